/**
 * Tests of damaged stores: `t8s up` and `t8s apiserver` do not open them when acknowledged objects are missing, unless
 * a flag accepts that.
 */
import assert from 'node:assert/strict'
import { copyFileSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { createConfigMap, kubectl, stop, t8s, temporaryFolder, up, withoutKubectl } from './t8s-process.ts'

/** Only the test writes. */
const quiet = ['--secure-port', '0', '--controllers', '', '--no-scheduler']
const segment = '000000000001.log'
const names = Array.from({ length: 20 }, (_, i) => `object-${i}`)

/** Creates a data directory with 20 acknowledged objects, whose server was killed. */
async function filled(t: TestContext): Promise<{ readonly data: string; readonly store: string }> {
  const data = join(temporaryFolder(t), 'data')
  const server = await up(t, [...quiet, '--data-dir', data])
  for (const name of names) createConfigMap(server.kubeconfig, name)
  await stop(server, 'SIGKILL')
  return { data, store: join(data, 'store') }
}

const objectsOf = (kubeconfig: string): string[] =>
  kubectl(kubeconfig, 'get', 'configmaps', '-o', 'name')
    .stdout.split('\n')
    .filter((line) => line.includes('/object-'))

test('a store with a truncated or changed end is not opened', { skip: withoutKubectl }, async (t) => {
  const { data, store } = await filled(t)
  const file = join(store, segment)
  const whole = readFileSync(file)
  const mark = readFileSync(join(store, 'commit-mark'))
  const flipped = Buffer.from(whole)
  flipped[flipped.length - 100]! ^= 4
  for (const bytes of [whole.subarray(0, -7), whole.subarray(0, whole.length >> 1), flipped]) {
    writeFileSync(file, bytes)
    for (const command of ['up', 'apiserver']) {
      const { code, stderr, stdout } = t8s([command, '--data-dir', data, '--secure-port', '0'])
      assert.equal(code, 1)
      assert.match(
        stderr,
        /changes are missing in .*1\.log \(.* \d+ bytes up to byte \d+ had been acknowledged.*--accept-data-loss/,
      )
      assert.doesNotMatch(stdout, /ready/)
    }
    assert.ok(readFileSync(file).equals(bytes))
    assert.ok(readFileSync(join(store, 'commit-mark')).equals(mark))
    const saved = t8s(['snapshot', 'save', '--data-dir', data, `${data}.snapshot`])
    assert.equal(saved.code, 1)
    assert.match(saved.stderr, /acknowledged changes are missing/)
  }
  writeFileSync(file, whole)
  const server = await up(t, [...quiet, '--data-dir', data])
  assert.equal(objectsOf(server.kubeconfig).length, 20)
  assert.doesNotMatch(server.output(), /acknowledged|left out/)
  await stop(server)
})

test('--accept-data-loss serves the rest and saves the dropped bytes', { skip: withoutKubectl }, async (t) => {
  const { data, store } = await filled(t)
  const file = join(store, segment)
  truncateSync(file, statSync(file).size - 7)
  const bytes = readFileSync(file)
  const first = await up(t, [...quiet, '--data-dir', data, '--accept-data-loss'])
  assert.match(
    first.output(),
    /^changes that had been acknowledged are lost \(0+1\.log: .*\): .*; they are kept in .*\.cut-\d+$/m,
  )
  assert.equal(objectsOf(first.kubeconfig).length, 19)
  const aside = readdirSync(store).find((name) => name.includes('.cut-'))!
  assert.ok(readFileSync(join(store, aside)).equals(bytes.subarray(Number(/\d+$/.exec(aside)![0]))))
  assert.equal(statSync(join(store, aside)).mode & 0o777, 0o600)
  createConfigMap(first.kubeconfig, 'object-new')
  await stop(first)
  const second = await up(t, [...quiet, '--data-dir', data])
  assert.equal(objectsOf(second.kubeconfig).length, 20)
  await stop(second)
})

test('a last write that was never acknowledged is dropped and reported', { skip: withoutKubectl }, async (t) => {
  const { data, store } = await filled(t)
  const [file, mark] = [join(store, segment), join(store, 'commit-mark')]
  const server = await up(t, [...quiet, '--data-dir', data])
  copyFileSync(mark, `${data}.mark`)
  createConfigMap(server.kubeconfig, 'object-last')
  await stop(server, 'SIGKILL')
  copyFileSync(`${data}.mark`, mark)
  const newest = readdirSync(store).findLast((name) => name.endsWith('.log'))!
  truncateSync(join(store, newest), statSync(join(store, newest)).size - 7)
  const again = await up(t, [...quiet, '--data-dir', data])
  assert.match(
    again.output(),
    /^the last \d+ bytes of .*\.log are a write that had not been acknowledged .*; they are kept in .*$/m,
  )
  assert.equal(objectsOf(again.kubeconfig).length, 20)
  assert.ok(statSync(file).size > 0)
  await stop(again)
})
