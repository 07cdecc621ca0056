import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resourceRegistry } from '../../api/registry.ts'
import { type ResourceDefinition, resource } from '../../api/resource.ts'
import { ServedApis } from './served-apis.ts'
import { ServedResource } from './served-resource.ts'

const define = (group: string, version: string, plural: string): ResourceDefinition =>
  resource({ group, version, kind: plural.slice(0, -1), plural, scope: 'Namespaced' })

function apis(): ServedApis {
  const all = [define('', 'v1', 'pods'), define('apps', 'v1', 'deployments')]
  return new ServedApis(
    resourceRegistry({ all }),
    all.map((one) => new ServedResource(one)),
  )
}
const widgets = (version: string): ServedResource => new ServedResource(define('example.com', version, 'widgets'))
const groupsOf = ({ state }: ServedApis): string[] =>
  state.groups.map(({ group, versions }) => `${group} ${versions.map(({ version }) => version).join()}`)

test('custom resources are found and listed after the built-in ones until their owner removes them', () => {
  const served = apis()
  served.setCustom('widgets.example.com', [widgets('v1'), widgets('v1beta1')])
  assert.equal(served.find('example.com', 'v1beta1', 'widgets')?.definition.version, 'v1beta1')
  assert.deepEqual(groupsOf(served), [' v1', 'apps v1', 'example.com v1,v1beta1'])
  served.setCustom('widgets.example.com', [widgets('v1')])
  assert.equal(served.find('example.com', 'v1beta1', 'widgets'), undefined)
  served.setCustom('widgets.example.com', [])
  assert.deepEqual(groupsOf(served), [' v1', 'apps v1'])
})

test('the state is a new object after a change, and only then', () => {
  const served = apis()
  const before = served.state
  assert.equal(served.state, before)
  let changes = 0
  const end = served.onChange(() => changes++)
  served.setCustom('widgets.example.com', [widgets('v1')])
  assert.notEqual(served.state, before)
  assert.equal(before.resources.length, 2)
  end()
  served.setCustom('widgets.example.com', [])
  assert.equal(changes, 1)
})

test('a custom resource cannot replace a built-in one of the same name', () => {
  const served = apis()
  const own = served.find('apps', 'v1', 'deployments')
  const other = new ServedResource(define('apps', 'v1', 'deployments'))
  served.setCustom('deployments.apps', [other])
  assert.equal(served.find('apps', 'v1', 'deployments'), own)
  served.setCustom('deployments.apps', [])
  assert.equal(served.find('apps', 'v1', 'deployments'), own)
})
