/** The unchanged parts of an updated object are neither validated nor encoded again: the result must be the same. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { allResources } from '../../../api/registry.ts'
import { resourceKey } from '../../../api/resource.ts'
import type { KubeObject, Unstructured } from '../../../machinery/object.ts'
import { memoryStore } from '../../../storage/memory/index.ts'
import { prefixRange } from '../../../storage/store.ts'
import { AdmissionChain } from '../../admission/admission-chain.ts'
import { Registry } from '../registry.ts'
import { encode, type StoredObject } from '../stored-object.ts'
import { createObject } from './create-object.ts'
import { deleteObject } from './delete-object.ts'
import { updateObject } from './update-object.ts'
import { timestamp, type WriteContext } from './write-context.ts'

function writer(t: TestContext, kind = 'v1/pods') {
  const store = memoryStore()
  const registry = new Registry(store, allResources)
  t.after(() => registry.stop())
  const resource = registry.served(allResources.find((definition) => resourceKey(definition) === kind)!)
  const context = (subresource = ''): WriteContext => ({
    registry,
    admission: new AdmissionChain([]),
    resource,
    namespace: 'ns',
    name: 'p',
    subresource,
    user: { name: 'me', groups: [] },
    manager: 'test',
    options: { dryRun: false, fieldManager: '', fieldValidation: 'Ignore', force: false },
    warnings: [],
    annotate: () => {},
    now: () => timestamp(Date.now()),
    pause: () => undefined,
  })
  const key = resource.key('ns', 'p')
  const pod = (): Unstructured => {
    const spec = { containers: [{ name: 'c', image: 'i' }], nodeName: 'n' }
    const object: Unstructured = {
      kind: 'Pod',
      apiVersion: 'v1',
      metadata: { name: 'p', namespace: 'ns', annotations: { text: 'ü"}' } },
      spec,
    }
    resource.applyDefaults(object)
    return object
  }
  const change = async (how: (object: Unstructured) => void, subresource?: string): Promise<StoredObject> => {
    const { object } = await updateObject(context(subresource), {
      startsFromLive: true,
      change: (live) => {
        how(live as Unstructured)
        return { object: live! }
      },
    })
    return object
  }
  return { store, registry, resource, context, key, pod, change }
}

const label = ({ metadata }: KubeObject): void => {
  metadata.labels = { ...metadata.labels, a: 'b' }
}

test('an update of metadata alone stores the same bytes as a full encoding', async (t) => {
  const { resource, context, pod, change, registry, key } = writer(t)
  await createObject(context(), pod())
  const labelled = await change(label)
  assert.equal(
    labelled.bytes.length,
    encode(resource, labelled.parse()).length + `"resourceVersion":"${labelled.revision}",`.length,
  )
  const { spec, status, metadata } = labelled.parse<Unstructured>()
  assert.deepEqual([spec, status], [{ ...(pod().spec as object) }, { phase: 'Pending', qosClass: 'BestEffort' }])
  assert.deepEqual([metadata.labels, metadata.annotations], [{ a: 'b' }, { text: 'ü"}' }])
  assert.deepEqual((await registry.newest(resource, key))?.parse(), labelled.parse())
  const { object: marked } = await deleteObject(context(), { dryRun: false })
  const { deletionTimestamp, deletionGracePeriodSeconds, ...rest } = marked.parse().metadata
  assert.equal(typeof deletionTimestamp, 'string')
  assert.equal(deletionGracePeriodSeconds, 30)
  assert.deepEqual(marked.parse<Unstructured>().spec, spec)
  assert.deepEqual(rest.labels, { a: 'b' })
})

for (const outdated of [false, true])
  test(
    'deleting a pod immediately shows a change before the removal, and returns its last state ' +
      `(${outdated ? 'stored in an older form' : 'as usual'})`,
    async (t) => {
      const { store, resource, context, pod, registry, key } = writer(t)
      await createObject(context(), pod())
      const live = await registry.get(resource, key)
      live!.outdated = outdated
      const { object, removed, uid } = await deleteObject(context(), { dryRun: false, gracePeriodSeconds: 0 })
      const { events } = await store.changes(prefixRange('/'), live!.revision)
      assert.deepEqual(
        events.map(({ type, revision }) => [type, revision - live!.revision]),
        [
          ['put', 1],
          ['delete', 2],
        ],
      )
      const last = object.parse<Unstructured>()
      assert.deepEqual([removed, uid, object.revision], [true, last.metadata.uid, live!.revision + 2])
      assert.deepEqual([last.metadata.deletionGracePeriodSeconds, last.spec], [0, live!.parse<Unstructured>().spec])
      const put = JSON.parse(String(events[0]?.value)) as Unstructured
      assert.equal(put.metadata.deletionTimestamp, last.metadata.deletionTimestamp)
      assert.equal(await registry.newest(resource, key), undefined)
    },
  )

test('fields that are added and removed together with metadata are stored', async (t) => {
  const { context, change } = writer(t, 'v1/configmaps')
  await createObject(context(), {
    kind: 'ConfigMap',
    apiVersion: 'v1',
    metadata: { name: 'p', namespace: 'ns' },
    data: { a: '1' },
  } as Unstructured)
  const more = await change((object) => {
    label(object)
    object.binaryData = { b: 'YQ==' }
  })
  assert.deepEqual(
    [more.parse<Unstructured>().data, more.parse<Unstructured>().binaryData],
    [{ a: '1' }, { b: 'YQ==' }],
  )
  const less = await change((object) => {
    object.metadata.labels = { a: 'c' }
    delete object.data
  })
  const { metadata, data, binaryData } = less.parse<Unstructured>()
  assert.deepEqual([metadata.labels, data, binaryData], [{ a: 'c' }, undefined, { b: 'YQ==' }])
})

test(
  'an update validates a spec that was written elsewhere, but not an unchanged one that has passed validation ' +
    'here',
  async (t) => {
    const { store, resource, context, key, pod, change } = writer(t)
    const wrong = pod()
    ;(wrong.spec as { dnsPolicy: string }).dnsPolicy = 'Wrong'
    Object.assign(wrong.metadata, { uid: 'u', creationTimestamp: timestamp(Date.now()) })
    const value = encode(resource, wrong)
    await store.commit({ conditions: [], operations: [{ key, value }] })
    await assert.rejects(change(label), /spec\.dnsPolicy: Unsupported value: "Wrong"/)
    // Its status may be written nevertheless, which makes nothing valid.
    await change((object) => {
      object.status = { phase: 'Running' }
    }, 'status')
    await assert.rejects(change(label), /spec\.dnsPolicy: Unsupported value: "Wrong"/)
    await store.commit({ conditions: [], operations: [{ key, delete: true }] })
    await createObject(context(), pod())
    assert.equal((await change(label)).validSpec, true)
    const refused = change((object) => {
      ;(object.spec as { dnsPolicy: string }).dnsPolicy = 'Wrong'
    })
    await assert.rejects(refused, /spec\.dnsPolicy: Unsupported value: "Wrong"/)
  },
)
