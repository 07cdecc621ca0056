/** Client libraries and kubectl read and write objects with 64-bit integers. */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { SharedInformers } from '../../../src/client/informers/shared-informers.ts'
import { type Pod, pods } from '../../../src/client/kinds.ts'
import { createOrUpdate } from '../../../src/client/objects/create-or-update.ts'
import { clientFor } from '../../support/client-for.ts'
import { installedKubectls, Kubectl } from '../../support/kubectl.ts'
import { testCluster } from '../../support/test-cluster.ts'
import { waitFor } from '../../support/wait-for.ts'
import { integers, podOf, podsPath, secondsIn } from './integers.ts'

const maxInt64 = 2n ** 63n - 1n
const withoutControllers = { controllers: [], apiServerFlags: ['--disable-admission-plugins=ServiceAccount'] }

/** The fields have the type number; above 2^53 the client accepts and returns bigints. */
const podWith = (name: string, seconds: readonly bigint[]): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'default' },
  spec: {
    containers: [{ name: 'a', image: 'x' }],
    tolerations: seconds.map((value, i) => ({
      key: `k${i}`,
      operator: 'Exists',
      effect: 'NoExecute',
      tolerationSeconds: (Number.isSafeInteger(Number(value)) ? Number(value) : value) as number,
    })),
  },
})

const secondsOf = ({ spec }: Pod): readonly bigint[] =>
  (spec?.tolerations ?? []).slice(0, -2).map(({ tolerationSeconds = 0 }) => BigInt(tolerationSeconds))

test('the client library reads, watches and writes 64-bit integers exactly', async (t) => {
  const client = clientFor(t, await testCluster(t, withoutControllers))
  const values = integers(31, 30)
  assert.deepEqual(secondsOf(await client.create(pods, podWith('a', values))), values)
  assert.deepEqual(secondsOf(await client.get(pods, 'default', 'a')), values)
  assert.deepEqual(secondsOf((await client.list(pods, { namespace: 'default' })).items[0]!), values)
  const informers = new SharedInformers(client, assert.fail)
  t.after(() => informers.stop())
  const informer = informers.of(pods)
  await informers.synced(pods)
  assert.deepEqual(secondsOf(informer.get('default', 'a')!), values)
  await client.create(pods, podWith('b', values))
  await waitFor('the other is known', () => informer.get('default', 'b'))
  assert.deepEqual(secondsOf(informer.get('default', 'b')!), values)
  const same = await createOrUpdate(client, pods, { namespace: 'default', name: 'a' }, (pod) => ({
    ...pod,
    spec: { ...pod.spec!, tolerations: pod.spec!.tolerations },
  }))
  assert.equal(same, 'unchanged')
  const { tolerations } = podWith('c', [...values, maxInt64]).spec!
  const live = await client.get(pods, 'default', 'a')
  const added = { ...live, spec: { ...live.spec!, tolerations: [...live.spec!.tolerations!, tolerations!.at(-1)!] } }
  assert.equal((await client.update(pods, added)).spec?.tolerations?.at(-1)?.tolerationSeconds, maxInt64)
  const applied = await client.apply(
    pods,
    { ...podWith('d', [maxInt64, maxInt64 - 1n]), metadata: { name: 'd', namespace: 'default' } },
    'me',
  )
  assert.deepEqual(secondsOf(applied), [maxInt64, maxInt64 - 1n])
})

for (const program of installedKubectls())
  test(`kubectl ${program.version} describes and changes a pod with tolerationSeconds 2^63-1`, async (t) => {
    const cluster = await testCluster(t, withoutControllers)
    const kubectl = new Kubectl(program, cluster.kubeconfigFile, cluster.folder)
    const manifest = join(cluster.folder, 'pod.yaml')
    writeFileSync(manifest, podOf('p', [maxInt64]))
    await kubectl.ok(`create -f ${manifest}`, /created/)
    await kubectl.ok('describe pod p', /k0:NoExecute op=Exists for 9223372036854775807s/)
    await kubectl.ok('label pod p a=b', /labeled/)
    await kubectl.ok('get pod p -o yaml', /tolerationSeconds: 9223372036854775807/)
    writeFileSync(manifest, podOf('q', [maxInt64 - 1n]))
    await kubectl.ok(`apply -f ${manifest}`, /created/)
    await kubectl.ok(`apply --server-side --force-conflicts -f ${manifest}`, /serverside-applied/)
    assert.deepEqual(secondsIn(await cluster.text(`${podsPath}/q`)), [maxInt64 - 1n])
  })

test('a pod can be deleted with every 64-bit grace period', async (t) => {
  const cluster = await testCluster(t, withoutControllers)
  const body = JSON.parse(podOf('p', [1n])) as { spec: object }
  await cluster.call('POST', podsPath, { ...body, spec: { ...body.spec, nodeName: 'n' } })
  await cluster.call('DELETE', `${podsPath}/p?gracePeriodSeconds=9223372036854775807`)
  assert.match(await cluster.text(`${podsPath}/p`), /"deletionGracePeriodSeconds":9223372036854775807/)
  await cluster.call('DELETE', `${podsPath}/p`, '{"gracePeriodSeconds":9223372036854775806}')
  assert.match(await cluster.text(`${podsPath}/p`), /"deletionGracePeriodSeconds":9223372036854775806/)
  await cluster.call('DELETE', `${podsPath}/p?gracePeriodSeconds=0`)
  await assert.rejects(cluster.text(`${podsPath}/p`), /404/)
})
