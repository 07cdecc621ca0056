/**
 * Plug-ins get objects before validation: with lists that Go's decoder leaves null, empty structs, and lists of those.
 * No plug-in may throw a TypeError for them.
 */
import assert from 'node:assert/strict'
import test from 'node:test'
import { allResources } from '../../api/registry.ts'
import { type ResourceDefinition, resourceKey } from '../../api/resource.ts'
import { schemaOf } from '../../api/schema/index.ts'
import { decodeFields, sparseFields } from '../../api/sparse-objects.fixture.ts'
import type { KubeObject } from '../../machinery/object.ts'
import { StatusError } from '../../machinery/status-error.ts'
import type { AdmissionAttributes } from '../registry/write/admission.ts'
import { admissionChain } from './index.ts'
import { type PluginFixture, pluginFixture } from './plugin.fixture.ts'
import { defaultEnabledPlugins, pluginOrder } from './plugin-order.ts'

/** These need a configuration and read only names. */
const configured = new Set(['EventRateLimit', 'ImagePolicyWebhook'])

const builtInResources = allResources.filter(({ custom }) => !custom)

/** Stores objects that make the plug-ins read more fields of a write. */
async function storeContext({ store }: PluginFixture): Promise<void> {
  const namespace = 'default'
  await store('v1/namespaces', {
    metadata: {
      name: namespace,
      labels: { 'pod-security.kubernetes.io/enforce': 'restricted' },
      annotations: { 'scheduler.alpha.kubernetes.io/node-selector': 'a=b' },
    },
  })
  const annotations = { 'kubernetes.io/enforce-mountable-secrets': 'true' }
  await store('v1/serviceaccounts', { metadata: { name: 'default', namespace, annotations } })
  const limit = { type: 'Container', default: { cpu: '1' }, max: { cpu: '2' } }
  await store('v1/limitranges', {
    metadata: { name: 'l', namespace },
    spec: { limits: [limit, { type: 'Pod', max: { cpu: '3' } }] },
  })
  await store('v1/resourcequotas', {
    metadata: { name: 'q', namespace },
    spec: { hard: { 'requests.cpu': '4', pods: '4', services: '1' } },
  })
  await store('storage.k8s.io/v1/storageclasses', {
    metadata: { name: 's', annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } },
    provisioner: 'example.com/p',
  })
}

function* sparseObjects(resource: ResourceDefinition): Generator<KubeObject> {
  const type = schemaOf(resource)
  if (type) for (const fields of sparseFields(type, 3)) yield decodeFields(resource, type, fields)
}

/** The attributes of a create, and of updates of an empty object, also through each subresource of its kind. */
function writesOf(resource: ResourceDefinition): Partial<AdmissionAttributes>[] {
  const type = schemaOf(resource)
  if (!type) return []
  const { status, special = [] } = resource.subresources ?? {}
  const subresources = [
    '',
    ...(status ? ['status'] : []),
    ...special.flatMap(({ name, writes }) => (writes ? [name] : [])),
  ]
  const old = decodeFields(resource, type, {})
  return [{}, ...subresources.map((subresource) => ({ operation: 'UPDATE' as const, subresource, old }))]
}

for (const name of pluginOrder.filter((name) => !configured.has(name))) {
  test(`${name} throws no TypeError for an empty or null field`, { timeout: 120_000 }, async (t) => {
    const fixture = pluginFixture()
    await storeContext(fixture)
    const { sources, write } = fixture
    const plugin = admissionChain(sources, {
      enabled: [name],
      disabled: [...defaultEnabledPlugins].filter((other) => other !== name),
    })
    await plugin.start()
    t.after(() => plugin.stop())
    const failed = new Map<string, string>()
    const attempt = async (step: () => void | Promise<void>, object: KubeObject): Promise<void> => {
      try {
        await step()
      } catch (error) {
        if (error instanceof StatusError) return
        const [message = '', place = ''] = error instanceof Error ? (error.stack ?? '').split('\n') : [String(error)]
        failed.set(`${message} ${place.trim()}`, JSON.stringify(object).slice(0, 200))
      }
    }
    for (const resource of builtInResources) {
      const key = resourceKey(resource)
      const writes = writesOf(resource)
      for (const object of sparseObjects(resource)) {
        for (const more of writes) {
          const attributes = write(key, object, more)
          await attempt(() => plugin.mutate(attributes), object)
          await attempt(() => plugin.validate(attributes), object)
        }
      }
    }
    assert.deepEqual(
      [...failed].map(([why, object]) => `${why} with ${object}`),
      [],
    )
  })
}
