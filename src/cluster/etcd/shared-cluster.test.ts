import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { memoryStore } from '../../storage/memory/index.ts'
import { dataDirectory } from '../data-directory.ts'
import { filePki } from '../pki/pki.ts'
import { certificatesIn, checkSharedCluster, rangesIn } from './shared-cluster.ts'

const pem = '-----BEGIN CERTIFICATE-----\nQUJD\nREVG\n-----END CERTIFICATE-----\n'

test('certificates are found in every stored form of a ConfigMap', () => {
  const protobuf = Buffer.concat([Buffer.from('k8s\0\n\x0a\x12'), Buffer.from(pem), Buffer.from([0xff, 0x1a, 0])])
  const yaml = `data:\n  client-ca-file: |\n${pem.replaceAll(/^/gm, '    ')}`
  for (const value of [protobuf, Buffer.from(JSON.stringify({ data: { a: pem } })), Buffer.from(yaml)])
    assert.deepEqual(certificatesIn(value), ['QUJDREVG'])
  assert.deepEqual(certificatesIn(undefined), [])
})

test('ranges of both families are found', () => {
  assert.deepEqual(rangesIn(Buffer.from('{"cidrs":["10.96.0.0/16","fd00::/108"]}')), ['10.96.0.0/16', 'fd00::/108'])
  assert.deepEqual(rangesIn(Buffer.from('k8s\0\n\x0c10.0.0.0/24"\0networking.k8s.io/v1')), ['10.0.0.0/24'])
})

test('a process joins a cluster only with its authority, key of tokens and range of Services', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 't8s-shared-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const [ours, other, empty] = ['ours', 'other', 'empty'].map((name) => dataDirectory(join(folder, name)))
  const { authority } = await filePki(ours!.pki, ['127.0.0.1'])
  await filePki(other!.pki, ['127.0.0.1'])
  const store = memoryStore()
  t.after(() => store.close())
  const joinCluster = (data = ours, serviceRanges: string | undefined = '10.96.0.0/16') =>
    checkSharedCluster({ store, data, authority: undefined, serviceRanges })
  await joinCluster(empty)
  const write = (key: string, value: unknown) =>
    store.commit({
      conditions: [],
      operations: [{ key: `/registry/${key}`, value: Buffer.from(JSON.stringify(value)) }],
    })
  await write('configmaps/kube-system/extension-apiserver-authentication', {
    data: { 'client-ca-file': pem + authority.cert },
  })
  await write('servicecidrs/kubernetes', { spec: { cidrs: ['10.96.0.0/16'] } })
  await joinCluster()
  await assert.rejects(joinCluster(other), /certificates of the cluster in etcd are not in .*other\/pki: copy ca.crt/)
  await assert.rejects(joinCluster(empty), /copy ca.crt/)
  await assert.rejects(joinCluster(ours, '10.0.0.0/24'), {
    message:
      'the cluster in etcd has other addresses for Services than 10.0.0.0/24: start with ' +
      '--service-cluster-ip-range=10.96.0.0/16',
  })
  await checkSharedCluster({ store, data: undefined, authority: authority.cert, serviceRanges: undefined })
  await assert.rejects(
    checkSharedCluster({ store, data: undefined, authority: undefined, serviceRanges: undefined }),
    /are not in the memory of this process: choose a data directory/,
  )
})
