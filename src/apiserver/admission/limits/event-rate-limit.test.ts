import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pluginFixture, rejectionOf } from '../plugin.fixture.ts'
import { eventRateLimit } from './event-rate-limit.ts'

const configuration = (...limits: readonly object[]) => ({
  apiVersion: 'eventratelimit.admission.k8s.io/v1alpha1',
  kind: 'Configuration',
  limits,
})

function withLimits(...limits: readonly object[]) {
  const fixture = pluginFixture(configuration(...limits))
  let now = 0
  const plugin = eventRateLimit(fixture.sources, () => now)
  return {
    pass: (ms: number) => (now += ms),
    send: (namespace: string, user = 'jane', more: object = {}, dryRun = false) =>
      rejectionOf(
        plugin,
        fixture.write(
          'v1/events',
          { metadata: { name: 'e', namespace }, involvedObject: {}, ...more },
          { user: { name: user, groups: [] }, dryRun },
        ),
      ),
  }
}

test('each namespace has its own rate, and its bucket refills with time', async () => {
  const { send, pass } = withLimits({ type: 'Namespace', qps: 1, burst: 2 })
  assert.deepEqual([await send('a'), await send('a')], [undefined, undefined])
  assert.equal(await send('a'), 'Too many requests: limit reached on type Namespace for key a')
  assert.equal(await send('b'), undefined)
  pass(1000)
  assert.deepEqual(
    [await send('a'), await send('a')],
    [undefined, 'Too many requests: limit reached on type Namespace for key a'],
  )
})

test('an event counts for all limits, and several exceeded limits are reported together', async () => {
  const { send } = withLimits({ type: 'Server', qps: 1, burst: 1 }, { type: 'User', qps: 1, burst: 2 })
  assert.equal(await send('a'), undefined)
  assert.equal(await send('a'), 'Too many requests: limit reached on type Server for key ')
  assert.equal(
    await send('a'),
    'Too many requests: [limit reached on type Server for key , limit reached on type User for key jane]',
  )
  assert.equal(await send('a', 'joe', {}, true), undefined)
})

test('SourceAndObject limits repeated events of one source for one object', async () => {
  const { send } = withLimits({ type: 'SourceAndObject', qps: 1, burst: 1 })
  const about = (name: string) => ({
    source: { component: 'kubelet', host: 'n' },
    involvedObject: { kind: 'Pod', namespace: 'a', name, uid: 'u', apiVersion: 'v1' },
  })
  assert.equal(await send('a', 'jane', about('p')), undefined)
  assert.equal(await send('a', 'jane', about('q')), undefined)
  assert.equal(
    await send('a', 'jane', about('p')),
    'Too many requests: limit reached on type SourceAndObject for key kubeletnPodapuv1',
  )
})

test('the cache holds at most cacheSize rates', async () => {
  const { send } = withLimits({ type: 'Namespace', qps: 1, burst: 1, cacheSize: 1 })
  assert.deepEqual([await send('a'), await send('b'), await send('a')], [undefined, undefined, undefined])
})

for (const [what, given, message] of [
  ['none', undefined, /^limits: .* must be non-empty$/],
  ['another kind', { apiVersion: 'v1', kind: 'Pod' }, /^no kind "Pod" is registered for version "v1"/],
  [
    'no rate',
    configuration({ type: 'Server' }),
    new RegExp(
      String.raw`^\[limits\[0\]\.burst: Invalid value: 0: must be positive, limits\[0\]\.qps: Invalid value: 0: ` +
        String.raw`must be positive\]$`,
    ),
  ],
  [
    'another type',
    configuration({ type: 'Pod', qps: 1, burst: 1 }),
    /^limits\[0\]\.type: Unsupported value: "Pod": supported values: "Namespace", "Server", "SourceAndObject", "User"$/,
  ],
  ['an unknown field', { ...configuration(), limit: [] }, /^strict decoding error: unknown field "limit"$/],
] as const)
  test(`an invalid configuration is an error: ${what}`, () => {
    assert.throws(() => eventRateLimit(pluginFixture(given).sources), { message })
  })
