/**
 * Validation errors of creates and updates, compared with kube-apiserver 1.36: their order, and which old values may
 * stay.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { clientOf, json } from '../../support/api-client.ts'
import { startTestServer } from '../../support/api-server.ts'

interface Answer {
  readonly message?: string
  readonly details?: { readonly causes?: readonly { readonly field: string; readonly reason: string }[] }
  readonly spec?: {
    readonly manualSelector?: boolean
    readonly containers?: readonly { readonly resizePolicy?: unknown }[]
  }
  readonly status?: { readonly phase?: string; readonly lastPhaseTransitionTime?: string }
  readonly metadata: { readonly creationTimestamp?: string }
}

const limits = { cpu: '1', memory: '1Gi' }
const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } }

test('validation follows the order and the defaults of 1.36', async (t) => {
  const server = await startTestServer(t)
  const client = clientOf(t, 'HTTP/1.1', server)
  const post = async (path: string, object: object): Promise<{ status: number; body: Answer }> => {
    const answer = await client.request('POST', path, { body: object })
    return { status: answer.status, body: json<Answer>(answer) }
  }
  const fieldsOf = ({ body }: { body: Answer }): string[] => (body.details?.causes ?? []).map(({ field }) => field)

  await t.test('metadata of a PodDisruptionBudget is validated only if nothing else is wrong', async () => {
    const path = '/apis/policy/v1/namespaces/default/poddisruptionbudgets'
    const budget = (app: string): object => ({
      metadata: { name: 'x/y' },
      spec: { selector: { matchLabels: { app } } },
    })
    assert.deepEqual(fieldsOf(await post(path, budget('/abs'))), ['spec.selector.matchLabels'])
    assert.deepEqual(fieldsOf(await post(path, budget('a'))), ['metadata.name'])
  })

  await t.test('a pod gets no default resizePolicy, a Job gets manualSelector false', async () => {
    const pod = { metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i', resources: { limits } }] } }
    const made = await post('/api/v1/namespaces/default/pods', pod)
    assert.equal(made.status, 201, made.body.message)
    assert.equal(made.body.spec?.containers?.[0]?.resizePolicy, undefined)
    const job = await post('/apis/batch/v1/namespaces/default/jobs', { metadata: { name: 'j' }, spec: { template } })
    assert.equal(job.body.spec?.manualSelector, false)
  })

  await t.test('a volume has the time of its last phase transition', async () => {
    const path = '/api/v1/persistentvolumes'
    const spec = { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/tmp' } }
    const { body } = await post(path, { metadata: { name: 'v' }, spec })
    assert.equal(body.status?.lastPhaseTransitionTime, body.metadata.creationTimestamp)
    const patch = async (status: object): Promise<Answer> => {
      const headers = { 'content-type': 'application/merge-patch+json' }
      return json<Answer>(await client.request('PATCH', `${path}/v/status`, { headers, body: { status } }))
    }
    const given = '2001-01-01T00:00:00Z'
    assert.equal((await patch({ lastPhaseTransitionTime: given })).status?.lastPhaseTransitionTime, given)
    assert.equal((await patch({ message: 'm' })).status?.lastPhaseTransitionTime, given)
    assert.notEqual((await patch({ phase: 'Available' })).status?.lastPhaseTransitionTime, given)
  })

  await t.test('volumeClaimTemplates of a StatefulSet are validated as claims', async () => {
    const path = '/apis/apps/v1/namespaces/default/statefulsets'
    const labels = { a: 'b' }
    const set = (claim: object): object => ({
      metadata: { name: 's' },
      spec: {
        serviceName: 's',
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } },
        volumeClaimTemplates: [claim],
      },
    })
    const claim = {
      metadata: { name: 'd' },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
    }
    assert.deepEqual(fieldsOf(await post(path, set({}))), [
      'spec.template.spec.volumes[0].persistentVolumeClaim.claimName',
      'spec.template.spec.volumes[0].name',
      'spec.volumeClaimTemplates[0].spec.accessModes',
      'spec.volumeClaimTemplates[0].spec.resources[storage]',
    ])
    assert.equal((await post(path, set(claim))).status, 201)
  })

  await t.test('a type error in an embedded struct contains the name of the struct', async () => {
    const volumes = [{ name: 'v', fc: { lun: 'x' } }]
    const spec = { volumes, containers: [{ name: 'c', image: 'i' }] }
    const { body } = await post('/api/v1/namespaces/default/pods', { metadata: { name: 'q' }, spec })
    assert.match(
      body.message ?? '',
      /Go struct field FCVolumeSource\.spec\.volumes\.VolumeSource\.fc\.lun of type int32/,
    )
  })
})
