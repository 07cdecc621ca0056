/** Rules and the requests that they match. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { allResources } from '../../../api/registry.ts'
import { resourceKey } from '../../../api/resource.ts'
import { ServedResource } from '../../registry/served-resource.ts'
import { type ResourceRule, ruleMatches } from './resource-rules.ts'

const served = (key: string) => new ServedResource(allResources.find((definition) => resourceKey(definition) === key)!)
const pods = served('v1/pods')
const namespaces = served('v1/namespaces')
const everything: ResourceRule = { operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*/*'] }

const cases: readonly (readonly [string, ResourceRule, ServedResource, string, string | undefined, boolean])[] = [
  ['everything', everything, pods, '', undefined, true],
  ['everything with subresources', everything, pods, 'status', undefined, true],
  [
    'a resource does not match its subresources',
    { ...everything, resources: ['pods'] },
    pods,
    'status',
    undefined,
    false,
  ],
  ['a star alone matches no subresources', { ...everything, resources: ['*'] }, pods, 'status', undefined, false],
  ['all subresources', { ...everything, resources: ['pods/*'] }, pods, 'status', undefined, true],
  ['all subresources include the resource', { ...everything, resources: ['pods/*'] }, pods, '', undefined, true],
  ['a subresource of all', { ...everything, resources: ['*/status'] }, pods, 'status', undefined, true],
  ['another operation', { ...everything, operations: ['DELETE'] }, pods, '', undefined, false],
  ['another group', { ...everything, apiGroups: ['apps'] }, pods, '', undefined, false],
  ['another version', { ...everything, apiVersions: ['v2'] }, pods, '', undefined, false],
  ['the scope', { ...everything, scope: 'Cluster' }, pods, '', undefined, false],
  ['namespaces are cluster-scoped', { ...everything, scope: 'Cluster' }, namespaces, '', undefined, true],
  ['namespaces are not namespaced', { ...everything, scope: 'Namespaced' }, namespaces, '', undefined, false],
  ['a name', { ...everything, resourceNames: ['a'] }, pods, '', 'a', true],
  ['another name', { ...everything, resourceNames: ['a'] }, pods, '', 'b', false],
]

for (const [what, rule, resource, subresource, name, expected] of cases)
  test(`rules: ${what}`, () =>
    assert.equal(ruleMatches(rule, resource, { operation: 'CREATE', subresource, name }), expected))
