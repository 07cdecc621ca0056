import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'

test('unhandled rejections and exceptions are logged and counted, and the process continues', () => {
  const module = new URL('./unhandled-errors.ts', import.meta.url).href
  const script = `
    const { surviveErrors, unhandledErrors } = await import(${JSON.stringify(module)})
    surviveErrors((line) => console.log(line))
    Promise.reject(new Error('of a promise'))
    setTimeout(() => { throw new Error('of a timer') })
    setTimeout(() => console.log('count', unhandledErrors()), 20)`
  const { status, stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' })
  assert.equal(status, 0)
  assert.match(stdout, /unhandled rejection, the server continues: Error: of a promise\n {4}at /)
  assert.match(stdout, /unhandled exception, the server continues: Error: of a timer\n {4}at /)
  assert.match(stdout, /count 2/)
})
