import assert from 'node:assert/strict'
import { test } from 'node:test'
import { unhandledErrors } from '../../lib/process/unhandled-errors.ts'
import { componentThread } from './component-thread.ts'

test('an unhandled error of a thread is logged and counted, and the thread keeps running', async () => {
  const survive = import.meta.resolve('../../lib/process/unhandled-errors.ts')
  const script = `
    import { parentPort } from 'node:worker_threads'
    import { surviveErrors } from ${JSON.stringify(survive)}
    surviveErrors((line) => parentPort.postMessage({ unhandled: line }))
    setImmediate(() => {
      setImmediate(() => parentPort.postMessage({ synced: true }))
      throw new Error('of the thread')
    })
    parentPort.on('message', () => parentPort.close())`
  const lines: string[] = []
  const before = unhandledErrors()
  const file = new URL(`data:text/javascript,${encodeURIComponent(script)}`)
  const thread = componentThread({ name: 'thread of the test', file, task: {}, log: (line) => lines.push(line) })
  await thread.synced
  await thread.stop()
  assert.equal(lines.length, 1)
  assert.match(
    lines[0] ?? '',
    /^the thread of the test: unhandled exception, the server continues: Error: of the thread\n/,
  )
  assert.equal(unhandledErrors(), before + 1)
})
