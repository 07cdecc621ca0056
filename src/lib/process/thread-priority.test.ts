import assert from 'node:assert/strict'
import { once } from 'node:events'
import { getPriority } from 'node:os'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'

test('lowerThreadPriority only lowers the priority of the calling thread', {
  skip: process.platform !== 'linux' && 'only Linux has thread priorities',
}, async () => {
  const before = getPriority()
  const script = `
    const { parentPort } = require('node:worker_threads')
    const { getPriority } = require('node:os')
    const { readlinkSync } = require('node:fs')
    import(${JSON.stringify(new URL('./thread-priority.ts', import.meta.url).href)}).then(({ lowerThreadPriority }) => {
      lowerThreadPriority()
      parentPort.postMessage(getPriority(Number(readlinkSync('/proc/thread-self').split('/').at(-1))))
    })`
  const worker = new Worker(script, { eval: true })
  const [priority] = (await once(worker, 'message')) as [number]
  assert.equal(priority, Math.min(before + 5, 19))
  assert.equal(getPriority(), before)
  await worker.terminate()
})
