import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deployments as deploymentDefinition } from '../../../api/apps/deployment.ts'
import { ServedResource } from '../../registry/served-resource.ts'
import { admitted, pods, writeOf } from './pod.fixture.ts'
import { privilegedContainers } from './privileged-containers.ts'

const deployments = new ServedResource(deploymentDefinition)
const others = new ServedResource({ ...deploymentDefinition, plural: 'others' })
const plugin = privilegedContainers({
  find: (key) => (key === 'v1/pods' ? pods : key === 'apps/v1/deployments' ? deployments : others),
})
const container = (privileged?: boolean) => ({ name: 'c', securityContext: { privileged } })

test('privileged containers in pods and templates are rejected as invalid', () => {
  assert.doesNotThrow(() => admitted(plugin, { containers: [container(), container(false)] }))
  assert.throws(() => admitted(plugin, { containers: [container(), container(true)] }), {
    code: 422,
    message:
      'Pod "p" is invalid: spec.containers[1].securityContext.privileged: Forbidden: disallowed by cluster policy',
  })
  assert.throws(
    () =>
      admitted(
        plugin,
        { ephemeralContainers: [container(true)] },
        { operation: 'UPDATE', subresource: 'ephemeralcontainers' },
      ),
    { code: 422 },
  )
  assert.doesNotThrow(() =>
    admitted(plugin, { containers: [container(true)] }, { operation: 'UPDATE', subresource: 'status' }),
  )
  const deployment = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'd' },
    spec: { template: { spec: { initContainers: [container(true)] } } },
  }
  assert.throws(() => plugin.validate?.(writeOf(deployment, { resource: deployments })), {
    message:
      'Deployment.apps "d" is invalid: spec.template.spec.initContainers[0].securityContext.privileged: ' +
      'Forbidden: disallowed by cluster policy',
  })
})
