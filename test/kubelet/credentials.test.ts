/** A kubelet gets its certificates from a control plane, beginning with a bootstrap token. */
import assert from 'node:assert/strict'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { connectTo } from '../../src/client/connection/connect-to.ts'
import { CertificateStore } from '../../src/kubelet/credentials/certificate-store.ts'
import { bootstrapClientCertificate, clientCertificate } from '../../src/kubelet/credentials/client-certificate.ts'
import { certificateOf, type KeyPair } from '../../src/kubelet/credentials/key-pair.ts'
import { clusterServingCertificate } from '../../src/kubelet/credentials/serving-certificate.ts'
import { apiControllers, testCluster } from '../support/test-cluster.ts'
import { approveServing, bootstrapKubeconfig, bootstrapToken } from './support/bootstrap.ts'

const schedule = (callback: () => void, ms: number): (() => void) => {
  const timer = setTimeout(callback, ms)
  return () => clearTimeout(timer)
}

const environment = { log: () => {}, now: Date.now, random: Math.random, schedule }

test('a bootstrap token becomes a client certificate, which is renewed and gets a serving one', async (t) => {
  const cluster = await testCluster(t, { controllers: apiControllers })
  const pkiFolder = join(cluster.folder, 'pki')
  const kubeconfig = join(cluster.folder, 'kubelet.conf')
  const lines: string[] = []
  const options = {
    bootstrapKubeconfig: await bootstrapKubeconfig(cluster),
    kubeconfig,
    pkiFolder,
    nodeName: 'worker-1',
    log: (line: string) => void lines.push(line),
    now: Date.now,
    signal: AbortSignal.timeout(60_000),
  }
  await bootstrapClientCertificate(options)
  const store = new CertificateStore(pkiFolder, 'kubelet-client')
  const first = store.load()!
  assert.equal(certificateOf(first).subject, 'O=system:nodes\nCN=system:node:worker-1')
  for (const file of [store.currentPath, kubeconfig]) assert.equal(statSync(file).mode & 0o777, 0o600)
  assert.ok(!readFileSync(kubeconfig, 'utf8').includes('KEY'))

  await bootstrapClientCertificate(options)
  assert.equal(certificateOf(store.load()!).fingerprint256, certificateOf(first).fingerprint256, 'it is kept')

  const client = await connectTo({ kubeconfig })
  t.after(() => client.close())
  // Near the end of its life a certificate is renewed immediately.
  const renewed = Promise.withResolvers<KeyPair>()
  const late = certificateOf(first).validToDate.getTime() - 1000
  const managed = clientCertificate({
    ...environment,
    now: () => late,
    pkiFolder,
    nodeName: 'worker-1',
    connect: () => connectTo({ kubeconfig }),
    changed(pair) {
      if (certificateOf(pair).fingerprint256 !== certificateOf(first).fingerprint256) renewed.resolve(pair)
    },
  })
  managed.start()
  t.after(() => managed.stop())
  assert.equal(certificateOf(await renewed.promise).subject, 'O=system:nodes\nCN=system:node:worker-1')
  managed.stop()

  const served = Promise.withResolvers<KeyPair>()
  const serving = clusterServingCertificate({
    ...environment,
    pkiFolder,
    nodeName: 'worker-1',
    hosts: () => ['worker-1', '10.0.0.7'],
    client,
    changed: served.resolve,
  })
  serving.start()
  t.after(() => serving.stop())
  await approveServing(cluster)
  const certificate = certificateOf(await served.promise)
  assert.equal(certificate.checkIP('10.0.0.7'), '10.0.0.7')
  assert.ok(!lines.join('\n').includes(bootstrapToken))
})
