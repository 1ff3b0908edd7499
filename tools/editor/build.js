// Writes producer/ticdc_producer/page/files/codemirror.js, or the file that is named: `npm run build [-- FILE]`.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'

const folder = import.meta.dirname
const outfile = process.argv[2] ?? join(folder, '../../producer/ticdc_producer/page/files/codemirror.js')
const options = {
  absWorkingDir: folder, entryPoints: ['codemirror.js'], bundle: true, minify: true, format: 'esm', target: 'es2022',
  charset: 'ascii', legalComments: 'none', metafile: true,
}

/** The packages of which the bundle has parts, and their licences, which all copies must contain. */
function licences(inputs) {
  const names = Object.keys(inputs).map((path) => /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1])
  const packages = new Map()
  for (const name of [...new Set(names)].filter(Boolean).sort()) {
    const of = (file) => readFileSync(join(folder, 'node_modules', name, file), 'utf8')
    const { version, license } = JSON.parse(of('package.json'))
    const text = of('LICENSE').trim()
    packages.set(text, [...(packages.get(text) ?? []), `${name} ${version} (${license})`])
  }
  return [...packages].map(([text, list]) => `${list.join('\n')}\n\n${text}`).join('\n\n')
}

const parts = Object.values((await build({ ...options, write: false })).metafile.outputs)[0].inputs
const banner = `/*! Made by tools/editor from these packages:\n\n${licences(parts)}\n*/`
await build({ ...options, outfile, banner: { js: banner } })
