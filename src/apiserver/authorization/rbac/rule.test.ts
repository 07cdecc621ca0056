import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type PolicyRule, type RuleAttributes, ruleAllows } from './rule.ts'

const resource = (verb: string, path: string, group = '', name = ''): RuleAttributes => {
  const [plural = '', subresource = ''] = path.split('/')
  return { isResourceRequest: true, verb, group, resource: plural, subresource, name, path: '' }
}
const url = (verb: string, path: string): RuleAttributes => ({
  isResourceRequest: false,
  verb,
  group: '',
  resource: '',
  subresource: '',
  name: '',
  path,
})
const rule = (verbs: string[], resources: string[], apiGroups = [''], resourceNames: string[] = []): PolicyRule => ({
  verbs,
  apiGroups,
  resources,
  resourceNames,
})
const urls = (...nonResourceURLs: string[]): PolicyRule => ({ verbs: ['get'], nonResourceURLs })

const cases: readonly (readonly [PolicyRule, RuleAttributes, boolean])[] = [
  [rule(['get'], ['pods']), resource('get', 'pods'), true],
  [rule(['get'], ['pods']), resource('GET', 'pods'), false],
  [rule(['*'], ['pods']), resource('GET', 'pods'), true],
  [rule(['get'], ['pods']), resource('*', 'pods'), false],
  [rule(['get'], ['pods']), resource('get', 'pods/log'), false],
  [rule(['get'], ['pods/log']), resource('get', 'pods'), false],
  [rule(['get'], ['*']), resource('get', 'pods/log'), true],
  [rule(['get'], ['*/log']), resource('get', 'pods/log'), true],
  [rule(['get'], ['*/log']), resource('get', 'pods/status'), false],
  [rule(['get'], ['*/log']), resource('get', 'pods'), false],
  [rule(['get'], ['pods/*']), resource('get', 'pods/log'), false],
  [rule(['get'], ['pods*']), resource('get', 'pods'), false],
  [rule(['get'], ['pods']), resource('get', 'pods', 'apps'), false],
  [rule(['get'], ['pods'], ['*']), resource('get', 'pods', 'apps'), true],
  [rule(['get'], ['pods'], []), resource('get', 'pods'), false],
  [rule(['get'], ['pods'], [''], ['a']), resource('get', 'pods', '', 'a'), true],
  [rule(['get'], ['pods'], [''], ['a']), resource('get', 'pods', '', 'b'), false],
  [rule(['create'], ['pods'], [''], ['a']), resource('create', 'pods'), false],
  [rule(['get'], ['pods'], [''], ['*']), resource('get', 'pods', '', 'b'), false],
  [rule(['*'], ['*'], ['*']), url('get', '/metrics'), false],
  [urls('/metrics'), url('get', '/metrics'), true],
  [urls('/metrics'), url('get', '/metrics/'), false],
  [urls('/metrics'), url('post', '/metrics'), false],
  [urls('/logs/*'), url('get', '/logs/a/b'), true],
  [urls('/logs/*'), url('get', '/logs'), false],
  [urls('/logs*'), url('get', '/logs'), true],
  [urls('/l*s'), url('get', '/logs'), false],
  [urls('*'), url('get', '/anything'), true],
  [urls('*'), resource('get', 'pods'), false],
]

test('a rule allows the requests that its verbs, groups, resources, names and paths match', () => {
  for (const [given, asked, expected] of cases)
    assert.equal(ruleAllows(given, asked), expected, `${JSON.stringify(given)} ${JSON.stringify(asked)}`)
})
