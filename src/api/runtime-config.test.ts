import assert from 'node:assert/strict'
import test from 'node:test'
import { resourceRegistry } from './registry.ts'
import type { ResourceDefinition } from './resource.ts'
import { parseRuntimeConfig } from './runtime-config.ts'

const define = (group: string, version: string, plural: string, enabledByDefault = true): ResourceDefinition => ({
  group,
  version,
  plural,
  kind: plural,
  scope: 'Cluster',
  enabledByDefault,
})
const all = [
  define('', 'v1', 'pods'),
  define('apps', 'v1', 'deployments'),
  define('apps', 'v1', 'replicasets'),
  define('apps', 'v1beta1', 'deployments', false),
  define('lab', 'v1alpha1', 'things', false),
]
const served = (runtimeConfig: string): string =>
  resourceRegistry({ runtimeConfig, all })
    .resources.map(({ group, version, plural }) => `${group}/${version}/${plural}`)
    .join(' ')

test('--runtime-config enables and disables versions and resources; specific keys override general ones', () => {
  const stable = '/v1/pods apps/v1/deployments apps/v1/replicasets'
  const cases: [string, string][] = [
    ['', stable],
    ['api/beta=true', `${stable} apps/v1beta1/deployments`],
    ['api/alpha', `${stable} lab/v1alpha1/things`],
    ['api/all=true', `${stable} apps/v1beta1/deployments lab/v1alpha1/things`],
    ['api/all=false,v1=true', '/v1/pods'],
    ['api/all=false,api/v1=true', '/v1/pods'],
    ['api/ga=false,apps/v1=true', 'apps/v1/deployments apps/v1/replicasets'],
    ['apps/v1/deployments=false', '/v1/pods apps/v1/replicasets'],
    ['apps/v1=false,apps/v1/deployments=true', '/v1/pods apps/v1/deployments'],
    ['api/beta=true,apps/v1beta1=false', stable],
    ['lab/v1alpha1=true', `${stable} lab/v1alpha1/things`],
  ]
  for (const [config, expected] of cases) assert.equal(served(config), expected, config)
})

test('a version without resources is skipped with a warning', () => {
  const warnings = (runtimeConfig: string) => resourceRegistry({ runtimeConfig, all }).warnings
  assert.deepEqual(warnings(''), [])
  assert.deepEqual(warnings('apps/v2alpha1=true'), ['Skipping API apps/v2alpha1 because it has no resources.'])
  assert.deepEqual(warnings('v1/pods=false'), ['Skipping API v1 because it has no resources.'])
  assert.deepEqual(warnings('apps/v1=false'), [])
})

test('invalid values fail with a message that names the mistake', () => {
  const cases: [string, RegExp][] = [
    ['nope/v1=true', /unknown API group "nope"/],
    ['apps/v1/none=true', /unknown resource "apps\/v1\/none"/],
    ['api/gamma=true', /the keys for all groups are api\/all, api\/ga, api\/beta, api\/alpha/],
    ['apps/v1=yes', /"apps\/v1=yes" is not KEY=true or KEY=false/],
    ['apps=true', /has no version; write GROUP\/VERSION/],
    ['api/all=false', /disables everything/],
  ]
  for (const [config, message] of cases) assert.throws(() => parseRuntimeConfig(config, all), { message }, config)
})
