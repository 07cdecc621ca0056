import assert from 'node:assert/strict'
import { test } from 'node:test'
import { missingRights, missingRules } from './covers.ts'
import type { PolicyRule } from './rule.ts'

const rule = (verbs: string, resources: string, apiGroups = '', names = ''): PolicyRule => ({
  verbs: verbs.split(' '),
  apiGroups: apiGroups.split(' '),
  resources: resources.split(' '),
  ...(names && { resourceNames: names.split(' ') }),
})
const urls = (text: string): PolicyRule => ({ verbs: ['get'], nonResourceURLs: text.split(' ') })

const cases: readonly (readonly [string, readonly PolicyRule[], readonly PolicyRule[], readonly string[]])[] = [
  ['the same', [rule('get', 'pods')], [rule('get', 'pods')], []],
  ['several rules together', [rule('get', 'pods'), rule('list', 'pods services')], [rule('get list', 'pods')], []],
  ['stars covered by stars', [rule('*', '*', '*')], [rule('*', '*', '*'), rule('get', 'pods/log')], []],
  [
    'a list of verbs does not cover a star',
    [rule('get list watch', 'pods')],
    [rule('*', 'pods')],
    ['{APIGroups:[""], Resources:["pods"], Verbs:["*"]}'],
  ],
  [
    'a list of groups does not cover a star',
    [rule('get', 'pods', ' apps')],
    [rule('get', 'pods', '*')],
    ['{APIGroups:["*"], Resources:["pods"], Verbs:["get"]}'],
  ],
  [
    'verbs keep their order',
    [],
    [rule('update get', 'pods')],
    ['{APIGroups:[""], Resources:["pods"], Verbs:["update" "get"]}'],
  ],
  [
    'one sorted line per resource',
    [],
    [rule('get', 'secrets pods')],
    ['{APIGroups:[""], Resources:["pods"], Verbs:["get"]}', '{APIGroups:[""], Resources:["secrets"], Verbs:["get"]}'],
  ],
  ['all names cover one', [rule('get', 'secrets')], [rule('get', 'secrets', '', 'a')], []],
  [
    'one name does not cover all',
    [rule('get', 'secrets', '', 'a')],
    [rule('get', 'secrets')],
    ['{APIGroups:[""], Resources:["secrets"], Verbs:["get"]}'],
  ],
  [
    'only the missing names',
    [rule('get', 'secrets', '', 'a')],
    [rule('get', 'secrets', '', 'a b')],
    ['{APIGroups:[""], Resources:["secrets"], ResourceNames:["b"], Verbs:["get"]}'],
  ],
  ['a subresource of all', [rule('get', '*/scale', '*')], [rule('get', 'deployments/scale', 'apps')], []],
  [
    'a resource does not cover its subresource',
    [rule('get', 'pods')],
    [rule('get', 'pods/log')],
    ['{APIGroups:[""], Resources:["pods/log"], Verbs:["get"]}'],
  ],
  ['paths below one', [urls('/logs/*')], [urls('/logs/a /logs/b/*')], []],
  [
    'a path does not cover the paths below',
    [urls('/logs/a')],
    [urls('/logs/*')],
    ['{NonResourceURLs:["/logs/*"], Verbs:["get"]}'],
  ],
  ['resource rules do not cover paths', [rule('*', '*', '*')], [urls('*')], ['{NonResourceURLs:["*"], Verbs:["get"]}']],
]

test('missingRights lists the missing permissions, one per line', () => {
  for (const [name, owned, wanted, missing] of cases) assert.deepEqual(missingRights(owned, wanted), missing, name)
})

test('missingRules returns the rules that complete the owned ones', () => {
  const owned = [rule('get', 'pods')]
  const wanted = [rule('get list', 'pods', '', 'a'), urls('/x')]
  const missing = missingRules(owned, wanted)
  assert.deepEqual(missing, [rule('list', 'pods', '', 'a'), urls('/x')])
  assert.deepEqual(missingRights([...owned, ...missing], wanted), [])
})

test('rules with a huge product are compared as a whole in bounded time', () => {
  const texts = (prefix: string, count: number): string[] => Array.from({ length: count }, (_, i) => `${prefix}${i}`)
  const bomb = { verbs: texts('v', 10_000), apiGroups: texts('g', 10_000), resources: texts('r', 10_000) }
  const started = performance.now()
  const [line, ...others] = missingRights([{ verbs: ['get'], apiGroups: ['*'], resources: ['*'] }], [bomb, bomb])
  assert.match(line ?? '', /^\{APIGroups:\["g0" "g1" .*\.\.\.$/)
  assert.deepEqual(others, [])
  assert.deepEqual(missingRights([{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }], [bomb]), [])
  assert.ok(performance.now() - started < 10_000)
  // Many small rules have a large product too.
  const small = { verbs: texts('v', 20), apiGroups: texts('g', 20), resources: texts('r', 20) }
  const many = Array.from({ length: 500 }, (_, i) => ({ ...small, resourceNames: [`n${i}`] }))
  assert.ok(missingRights([], many).length > 400)
  assert.deepEqual(missingRights([small], many), [])
})

test('rules without verbs, before validation, grant nothing', () => {
  const nothing = { verbs: null as unknown as string[], apiGroups: [''], resources: ['pods'], nonResourceURLs: ['/x'] }
  assert.deepEqual(missingRights([], [nothing]), [])
})
