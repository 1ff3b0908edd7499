import { test } from 'node:test'
import { consume } from './consumer.js'
import { fill } from './ticdc.js'

const sql = `
CREATE TABLE test.orders (id INT PRIMARY KEY, item VARCHAR(20) NOT NULL, price DECIMAL(8,2));
INSERT INTO test.orders VALUES (1, 'lamp', 19.90), (2, 'chair', 80.00), (3, 'desk', NULL);
UPDATE test.orders SET price = 75.00 WHERE id = 2;
UPDATE test.orders SET id = 4 WHERE id = 1;
DELETE FROM test.orders WHERE id = 3;
`

const runs = {
  'the consumer has the upstream rows': { sql, protocol: 'canal-json', partitions: 2, dispatch: 'index-value' },
  'repeated messages change nothing': { sql, protocol: 'canal-json', traps: ['duplicate-message:rate=1'] },
}

for (const [name, run] of Object.entries(runs)) {
  test(name, async (t) => {
    const topic = await fill(t, run)
    await topic.assertRows(await consume(topic.bootstrap, topic.name))
  })
}
