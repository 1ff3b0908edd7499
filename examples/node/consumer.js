// A consumer of TiCDC's Canal-JSON.
import { Kafka, logLevel } from 'kafkajs'

/** Changes the rows, by table and key, as a message says. */
export function apply(tables, message) {
  const change = JSON.parse(message)
  if (change.isDdl) return
  const name = `${change.database}.${change.table}`
  const rows = tables[name] ??= new Map()
  for (const row of change.data) {
    const key = JSON.stringify(change.pkNames.map((column) => row[column]))
    if (change.type === 'DELETE') rows.delete(key)
    else rows.set(key, row)
  }
}

/** The rows of each table, after all messages that the topic has now. */
export async function consume(bootstrap, topic) {
  const kafka = new Kafka({ brokers: [bootstrap], logLevel: logLevel.NOTHING })
  const admin = kafka.admin()
  await admin.connect()
  const ends = await admin.fetchTopicOffsets(topic)
  await admin.disconnect()
  let left = ends.reduce((sum, one) => sum + Number(one.high) - Number(one.low), 0)
  const tables = {}
  const consumer = kafka.consumer({ groupId: topic })
  await consumer.connect()
  await consumer.subscribe({ topic, fromBeginning: true })
  await new Promise((resolve, reject) => {
    consumer.on(consumer.events.CRASH, (event) => reject(event.payload.error))
    consumer.run({
      eachMessage: async ({ message }) => {
        apply(tables, message.value)
        if (--left === 0) resolve()
      },
    })
  })
  await consumer.disconnect()
  return Object.fromEntries(Object.entries(tables).map(([name, rows]) => [name, [...rows.values()]]))
}
