import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { RunProgram } from '../volumes/mounts/run-program.ts'
import { checkIdRange, kubeletIdRange } from './id-range.ts'

/** Programs by their command lines, with their output or exit status; others do not exist. */
const programs =
  (outputs: Readonly<Record<string, string | number>>): RunProgram =>
  async (program, args) => {
    const outcome = outputs[[program, ...args].join(' ')]
    if (outcome === undefined) throw Object.assign(new Error('spawn ENOENT'), { code: 'ENOENT' })
    return typeof outcome === 'string' ? { code: 0, output: outcome } : { code: outcome, output: '' }
  }

const user = { 'getent passwd kubelet': 'kubelet:x:999:999::/:/usr/sbin/nologin\n' }
const subordinate = '0: kubelet 65536 7208960\n'
const rangeOf = (outputs: Readonly<Record<string, string | number>>) =>
  kubeletIdRange(65_536, programs(outputs), () => {})

test('without a user kubelet, or without getsubids, pods get all IDs but the first', async () => {
  const usual = { first: 65_536, length: 2 ** 32 - 65_536 }
  assert.deepEqual(await rangeOf({}), usual)
  assert.deepEqual(await rangeOf({ 'getent passwd kubelet': 2, 'getsubids kubelet': subordinate }), usual)
  assert.deepEqual(await rangeOf(user), usual)
})

test('the subordinate IDs of the user kubelet are those of pods', async () => {
  const outputs = { ...user, 'getsubids kubelet': subordinate, 'getsubids -g kubelet': subordinate }
  assert.deepEqual(await rangeOf(outputs), { first: 65_536, length: 7_208_960 })
})

for (const [title, outputs, message] of [
  ['no subordinate IDs', { 'getsubids kubelet': 1 }, /^error retrieving additional uids for user "kubelet"/],
  [
    'no subordinate groups',
    { 'getsubids kubelet': subordinate, 'getsubids -g kubelet': 1 },
    /^error retrieving additional gids for user "kubelet"$/,
  ],
  [
    'other groups than users',
    { 'getsubids kubelet': subordinate, 'getsubids -g kubelet': '0: kubelet 131072 7208960\n' },
    /^mismatched subuids and subgids for user "kubelet"$/,
  ],
  ['two ranges', both(`${subordinate}1: kubelet 8388608 65536\n`), /it must contain only one line$/],
  ['too few words', both('kubelet 65536\n'), /^invalid line "kubelet 65536\\n"$/],
  ['a word for a number', both('0: kubelet many 1\n'), /parsing "many": invalid syntax$/],
  ['a large number', both('0: kubelet 4294967296 1\n'), /parsing "4294967296": value out of range$/],
] as const)
  test(`getsubids with ${title} is an error`, () => assert.rejects(rangeOf({ ...user, ...outputs }), { message }))

function both(output: string) {
  return { 'getsubids kubelet': output, 'getsubids -g kubelet': output }
}

for (const [range, idsPerPod, maxPods, message] of [
  [{ first: 65_536, length: 65_536 * 110 }, 65_536, 110, undefined],
  [{ first: 65_536, length: 65_536 * 109 }, 65_536, 110, /IDs are not enough to support 110 pods$/],
  [{ first: 0, length: 65_536 * 110 }, 65_536, 110, /assigned ID 0 must be greater or equal to 65536$/],
  [{ first: 65_537, length: 65_536 }, 65_536, 1, /assigned ID 65537 is not a multiple of 65536$/],
  [{ first: 65_536, length: 65_537 }, 65_536, 1, /IDs length 65537 is not a multiple of 65536$/],
  [{ first: 65_536, length: 65_536 }, 65_535, 1, /namespace length 65535 is not a multiple of 65536$/],
] as const)
  test(`${maxPods} pods of ${idsPerPod} IDs in ${JSON.stringify(range)}`, () => {
    const check = () => checkIdRange(range, idsPerPod, maxPods)
    if (message) assert.throws(check, { message })
    else assert.doesNotThrow(check)
  })
