/** Services created by kubectl: each gets a unique address, and node ports. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { installedKubectls, Kubectl } from '../support/kubectl.ts'
import { testCluster } from '../support/test-cluster.ts'

interface Service {
  readonly metadata: { readonly name: string; readonly uid: string }
  readonly spec: {
    readonly clusterIP: string
    readonly clusterIPs: string[]
    readonly ports: { readonly nodePort?: number; readonly targetPort: number | string }[]
  }
}

const services = '/api/v1/namespaces/default/services'
const nodePortService = (name: string): object => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name },
  spec: { type: 'NodePort', ports: [{ port: 80 }] },
})

describe('Services', { concurrency: true }, () => {
  test('fifty concurrent ones get fifty addresses and fifty node ports', async (t) => {
    const cluster = await testCluster(t)
    const made = (await Promise.all(
      Array.from({ length: 50 }, (_, i) => cluster.call('POST', services, nodePortService(`s-${i}`))),
    )) as unknown as Service[]
    assert.equal(new Set(made.map(({ spec }) => spec.clusterIP)).size, 50)
    assert.equal(new Set(made.flatMap(({ spec }) => spec.ports.map(({ nodePort }) => nodePort))).size, 50)
    for (const { spec } of made) assert.match(spec.clusterIP, /^10\.0\.0\.\d+$/)
  })

  test('the Service kubernetes exists from the start', async (t) => {
    const cluster = await testCluster(t)
    const { spec } = (await cluster.call('GET', `${services}/kubernetes`)) as unknown as Service
    assert.equal(spec.clusterIP, '10.0.0.1')
    assert.deepEqual(
      spec.ports.map(({ targetPort }) => targetPort),
      [cluster.port],
    )
  })

  test('allocated addresses and ports are known after a restart', async (t) => {
    const first = await testCluster(t)
    const storage = { directory: `${first.folder}/data` }
    const before = await testCluster(t, { storage })
    await before.call('POST', services, {
      ...nodePortService('kept'),
      spec: { type: 'NodePort', clusterIP: '10.0.0.20', ports: [{ port: 80, nodePort: 30100 }] },
    })
    await before.stop()
    const cluster = await testCluster(t, { storage })
    const again = (spec: object): Promise<unknown> =>
      cluster.call('POST', services, {
        ...nodePortService('again'),
        spec: { type: 'NodePort', ports: [{ port: 80 }], ...spec },
      })
    await assert.rejects(
      again({ clusterIP: '10.0.0.20' }),
      /failed to allocate IP 10\.0\.0\.20: provided IP is already allocated/,
    )
    await assert.rejects(
      again({ ports: [{ port: 80, nodePort: 30100 }] }),
      /spec\.ports\[0\]\.nodePort: Invalid value: 30100: provided port is already allocated/,
    )
    await cluster.call('DELETE', `${services}/kept`)
    await again({ clusterIP: '10.0.0.20', ports: [{ port: 80, nodePort: 30100 }] })
  })

  for (const program of installedKubectls()) {
    test(`kubectl ${program.version} creates, exposes, changes and lists them`, async (t) => {
      const cluster = await testCluster(t)
      const k = new Kubectl(program, cluster.kubeconfigFile, cluster.folder, 'default')
      await k.ok('create service clusterip web --tcp=80:8080', 'service/web created\n')
      await k.ok('get service web --no-headers', /^web +ClusterIP +10\.0\.0\.\d+ +<none> +80\/TCP +\d+s\n$/)
      await k.ok('create service nodeport outside --tcp=80:8080 --node-port=30123', 'service/outside created\n')
      await k.fails(
        'create service nodeport late --tcp=80:8080 --node-port=30123',
        /provided port is already allocated/,
      )
      await k.ok(
        'get service outside --no-headers',
        /^outside +NodePort +10\.0\.0\.\d+ +<none> +80:30123\/TCP +\d+s\n$/,
      )
      await k.ok('create deployment web --image=registry.example/app:1', 'deployment.apps/web created\n')
      await k.ok(
        'expose deployment web --name=exposed --port=80 --target-port=8080 --type=LoadBalancer',
        'service/exposed exposed\n',
      )
      await k.ok(
        'get service exposed --no-headers',
        /^exposed +LoadBalancer +10\.0\.0\.\d+ +<pending> +80:3[0-2]\d{3}\/TCP +\d+s\n$/,
      )
      const address = await k.ok('get service web -o jsonpath={.spec.clusterIP}')
      await k.ok(`patch service web -p {"spec":{"type":"NodePort"}}`, 'service/web patched\n')
      await k.ok('get service web -o jsonpath={.spec.clusterIP}', address)
      await k.ok('create service clusterip inner --clusterip=None', 'service/inner created\n')
      await k.ok('delete service web outside exposed inner', /deleted/)
      await k.ok('get services -o name', 'service/kubernetes\n')
    })
  }
})
