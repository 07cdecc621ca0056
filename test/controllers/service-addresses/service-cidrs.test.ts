/** ServiceCIDRs are protected while their addresses are in use. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testCluster } from '../../support/test-cluster.ts'
import { waitFor } from '../../support/wait-for.ts'

const path = '/apis/networking.k8s.io/v1/servicecidrs'

interface ServiceCidr {
  readonly metadata: { readonly finalizers?: readonly string[] }
  readonly status?: {
    readonly conditions?: readonly {
      readonly type: string
      readonly status: string
      readonly reason: string
      readonly message: string
    }[]
  }
}

test('a range becomes ready, waits for its addresses, and is deleted when another contains them', async (t) => {
  const cluster = await testCluster(t, { controllers: ['service-cidr-controller'] })
  const get = async (name: string): Promise<ServiceCidr> =>
    (await cluster.call('GET', `${path}/${name}`)) as unknown as ServiceCidr
  const ready = async (name: string): Promise<(string | undefined)[]> => {
    const { status, reason, message } = (await get(name)).status?.conditions?.find(({ type }) => type === 'Ready') ?? {}
    return [status, reason, message]
  }
  const range = (name: string, cidr: string) => ({
    apiVersion: 'networking.k8s.io/v1',
    kind: 'ServiceCIDR',
    metadata: { name },
    spec: { cidrs: [cidr] },
  })
  await cluster.call('POST', path, range('more', '10.200.0.0/24'))
  await waitFor('it to be ready', async () => (await ready('more'))[0] === 'True')
  assert.deepEqual(await ready('more'), ['True', '', 'Kubernetes Service CIDR is ready'])
  assert.deepEqual((await get('more')).metadata.finalizers, ['networking.k8s.io/service-cidr-finalizer'])
  await cluster.call('POST', '/apis/networking.k8s.io/v1/ipaddresses', {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'IPAddress',
    metadata: {
      name: '10.200.0.7',
      labels: {
        'ipaddress.kubernetes.io/managed-by': 'ipallocator.k8s.io',
        'ipaddress.kubernetes.io/ip-family': 'IPv4',
      },
    },
    spec: { parentRef: { resource: 'services', namespace: 'default', name: 's' } },
  })
  await cluster.call('DELETE', `${path}/more`)
  await waitFor('it to be held', async () => (await ready('more'))[0] === 'False')
  assert.deepEqual(await ready('more'), [
    'False',
    'Terminating',
    'There are still IPAddresses referencing the ServiceCIDR, please remove them or create a new ServiceCIDR',
  ])
  await cluster.call('POST', path, range('same', '10.200.0.0/24'))
  const isDeleted = async (): Promise<boolean> =>
    get('more').then(
      () => false,
      (error: Error) => error.message.includes(' 404 '),
    )
  await waitFor('it to be deleted', isDeleted, { deadlineMs: 30_000 })
})
