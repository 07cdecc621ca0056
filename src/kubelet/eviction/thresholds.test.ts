import assert from 'node:assert/strict'
import { test } from 'node:test'
import { amountText, bytesText, parseThresholds, type ThresholdSettings, withDerivedThresholds } from './thresholds.ts'

const none: ThresholdSettings = {
  evictionHard: {},
  evictionSoft: {},
  evictionSoftGracePeriod: {},
  evictionMinimumReclaim: {},
}
const parse = (settings: Partial<ThresholdSettings>) => parseThresholds({ ...none, ...settings })

test('thresholds are quantities or percentages, soft ones with a grace period', () => {
  const thresholds = parse({
    evictionHard: { 'memory.available': '100Mi', 'imagefs.available': '0%', 'pid.available': '10%' },
    evictionSoft: { 'memory.available': '0.5Gi' },
    evictionSoftGracePeriod: { 'memory.available': '1m30s' },
    evictionMinimumReclaim: { 'memory.available': '0Mi', 'pid.available': '5%' },
  })
  assert.deepEqual(thresholds, [
    { signal: 'memory.available', value: { quantity: '100Mi' }, graceMs: 0, minReclaim: { quantity: '0' } },
    {
      signal: 'pid.available',
      value: { part: Math.fround(0.1) },
      graceMs: 0,
      minReclaim: { part: Math.fround(Math.fround(5) / 100) },
    },
    { signal: 'memory.available', value: { quantity: '512Mi' }, graceMs: 90_000, minReclaim: { quantity: '0' } },
  ])
})

for (const [settings, message] of [
  [{ evictionHard: { 'disk.free': '1Gi' } }, 'unsupported eviction signal disk.free'],
  [
    { evictionHard: { 'memory.available': '-1%' } },
    'eviction percentage threshold memory.available must be >= 0%: -1%',
  ],
  [
    { evictionHard: { 'memory.available': '101%' } },
    'eviction percentage threshold memory.available must be <= 100%: 101%',
  ],
  [{ evictionHard: { 'memory.available': '-1Mi' } }, 'eviction threshold memory.available must be positive: -1Mi'],
  [
    { evictionSoft: { 'memory.available': '1Mi' } },
    'grace period must be specified for the soft eviction threshold memory.available',
  ],
  [
    { evictionSoftGracePeriod: { 'memory.available': '-5s' } },
    'invalid eviction grace period specified: -5s, must be a positive value',
  ],
  [
    { evictionMinimumReclaim: { 'memory.available': '0%' } },
    'eviction percentage minimum reclaim memory.available must be positive: 0%',
  ],
  [
    { evictionMinimumReclaim: { 'memory.available': '-1Mi' } },
    'negative eviction minimum reclaim specified for memory.available',
  ],
] as const)
  test(`thresholds ${JSON.stringify(settings)} are rejected`, () => assert.throws(() => parse(settings), { message }))

test('the file system of containers has the thresholds of that which it is on', () => {
  const all = parse({
    evictionHard: { 'memory.available': '1Mi', 'nodefs.available': '1Gi', 'imagefs.inodesFree': '7' },
  })
  const derived = (hasImageFileSystem: boolean) =>
    withDerivedThresholds(all, hasImageFileSystem)
      .slice(all.length)
      .map(({ signal, value }) => [signal, value])
  const memory = ['allocatableMemory.available', { quantity: '1Mi' }]
  assert.deepEqual(derived(false), [memory, ['containerfs.available', { quantity: '1Gi' }]])
  assert.deepEqual(derived(true), [memory, ['containerfs.inodesFree', { quantity: '7' }]])
})

test('amounts are printed as by upstream', () => {
  assert.equal(amountText({ quantity: '1.5Gi' }, 0), '1.5Gi')
  assert.equal(amountText({ part: Math.fround(0.1) }, 107_374_182_400), '10737418400')
  assert.deepEqual([0, 1023, 1024, 1_048_576, 1_049_600].map(bytesText), ['0', '1023', '1Ki', '1Mi', '1025Ki'])
})
