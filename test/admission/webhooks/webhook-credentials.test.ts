/** Client credentials for admission webhooks: from a kubeconfig named in `--admission-control-config-file`. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { TLSSocket } from 'node:tls'
import { startCluster } from '../../../src/cluster/start-cluster.ts'
import { issueCertificate, makeAuthority } from '../../../src/lib/x509/certificates.ts'
import { testCluster } from '../../support/test-cluster.ts'
import { temporaryFolder } from '../../up/t8s-process.ts'
import { admissionWebhooks, configMaps, group, hook } from './webhook.ts'

function written(t: TestContext, configuration: object, kubeconfig: object = {}): string {
  const folder = temporaryFolder(t)
  const kubeConfigFile = join(folder, 'kubeconfig')
  writeFileSync(kubeConfigFile, JSON.stringify(kubeconfig))
  const plugins = ['MutatingAdmissionWebhook', 'ValidatingAdmissionWebhook'].map((name) => ({
    name,
    configuration: { kubeConfigFile, ...configuration },
  }))
  const file = join(folder, 'admission.yaml')
  writeFileSync(
    file,
    JSON.stringify({ apiVersion: 'apiserver.config.k8s.io/v1', kind: 'AdmissionConfiguration', plugins }),
  )
  return `--admission-control-config-file=${file}`
}

const configuration = { apiVersion: 'apiserver.config.k8s.io/v1', kind: 'WebhookAdmissionConfiguration' }

test('a webhook receives the token of the user named after it', async (t) => {
  const webhooks = await admissionWebhooks(t)
  const users = [
    { name: `127.0.0.1:${webhooks.port}`, user: { token: 'for-this-one' } },
    { name: '*', user: { token: 'for-others' } },
  ]
  const { call } = await testCluster(t, { apiServerFlags: [written(t, configuration, { users })] })
  await call('POST', `${group}/validatingwebhookconfigurations`, {
    metadata: { name: 'one' },
    webhooks: [hook(webhooks, '/one')],
  })
  await call('POST', `${group}/mutatingwebhookconfigurations`, {
    metadata: { name: 'two' },
    webhooks: [
      hook(webhooks, '/one', {
        clientConfig: { url: `https://localhost:${webhooks.port}/two`, caBundle: webhooks.caBundle },
      }),
    ],
  })
  await call('POST', configMaps, { metadata: { name: 'a', labels: { hook: 'one' } } })
  const asked = await webhooks.asked()
  assert.deepEqual(Object.fromEntries(asked.map(({ path, headers }) => [path, headers.authorization])), {
    '/one': 'Bearer for-this-one',
    '/two': 'Bearer for-others',
  })
})

test('a webhook that requires a client certificate receives the server’s', async (t) => {
  const now = new Date()
  const authority = await makeAuthority('webhook-ca', now)
  const serving = await issueCertificate(authority, { commonName: 'hook', usage: 'server', hosts: ['127.0.0.1'] }, now)
  const client = await issueCertificate(authority, { commonName: 'api-server', usage: 'client' }, now)
  const seen: string[] = []
  const server = createServer(
    { ...serving, ca: authority.cert, requestCert: true, rejectUnauthorized: true },
    async (request, response) => {
      seen.push(String((request.socket as TLSSocket).getPeerCertificate().subject.CN))
      const { apiVersion, kind, request: asked } = JSON.parse(Buffer.concat(await request.toArray()).toString())
      response.end(JSON.stringify({ apiVersion, kind, response: { uid: asked.uid, allowed: true } }))
    },
  ).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close().closeAllConnections())
  const base64 = (text: string): string => Buffer.from(text).toString('base64')
  const { port } = server.address() as AddressInfo
  const users = [
    {
      name: `*.0.0.1:${port}`,
      user: { 'client-certificate-data': base64(client.cert), 'client-key-data': base64(client.key) },
    },
  ]
  const { call } = await testCluster(t, { apiServerFlags: [written(t, configuration, { users })] })
  const clientConfig = { url: `https://127.0.0.1:${port}/`, caBundle: base64(authority.cert) }
  const rules = [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }]
  const webhook = {
    name: 'a.example.com',
    clientConfig,
    rules,
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
    objectSelector: { matchLabels: { a: 'b' } },
  }
  await call('POST', `${group}/validatingwebhookconfigurations`, { metadata: { name: 'one' }, webhooks: [webhook] })
  await call('POST', configMaps, { metadata: { name: 'a', labels: { a: 'b' } } })
  assert.deepEqual(seen, ['api-server'])
})

test('a server with an invalid configuration does not start', async (t) => {
  const start = (flag: string) => startCluster({ apiServerFlags: [flag] })
  await assert.rejects(
    start(written(t, { kind: 'Webhook' })),
    /the configuration of MutatingAdmissionWebhook is wrong: it is a Webhook of undefined/,
  )
  await assert.rejects(start(written(t, { ...configuration, file: 'x' })), /unknown field "file"/)
  await assert.rejects(start(written(t, { ...configuration, kubeConfigFile: '/nowhere' })), /cannot read \/nowhere: /)
})
