import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { test } from 'node:test'

const program = `
import { stopSignals } from ${JSON.stringify(join(import.meta.dirname, 'stop-signals.ts'))}
const signal = stopSignals()
signal.addEventListener('abort', () => console.log(signal.reason.message))
setInterval(() => {}, 1000)
console.log('ready')
`

test('the first signal aborts, the second ends the process', async () => {
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const nextOutput = async (): Promise<string> => String((await once(child.stdout, 'data'))[0])
  assert.equal(await nextOutput(), 'ready\n')
  child.kill('SIGINT')
  assert.equal(await nextOutput(), 'received SIGINT\n')
  child.kill('SIGTERM')
  assert.deepEqual(await once(child, 'exit'), [143, null])
})
