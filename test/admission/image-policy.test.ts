/** ImagePolicyWebhook with a real HTTPS server that authenticates its client by certificate. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { issueCertificate, makeAuthority } from '../../src/lib/x509/certificates.ts'
import { temporaryFolder } from '../up/t8s-process.ts'
import { admissionCluster } from './pods/pod-plugins-cluster.ts'
import { constraints, enforce } from './policies/policy.ts'

interface Review {
  readonly spec: { readonly containers: readonly { readonly image: string }[]; readonly namespace: string }
}

/** A webhook that rejects the image `bad`, fails for `broken`, and fails once with a temporary error for `tired`. */
async function startWebhook(t: TestContext, serving: { cert: string; key: string }, clientAuthority: string) {
  const seen: string[] = []
  const server = createServer(
    { ...serving, ca: clientAuthority, requestCert: true, rejectUnauthorized: true },
    async (request, response) => {
      const review = JSON.parse(Buffer.concat(await request.toArray()).toString()) as Review
      const images = review.spec.containers.map(({ image }) => image).join()
      seen.push(images)
      const isTired = images === 'tired' && seen.filter((one) => one === images).length === 1
      response.statusCode = images === 'broken' ? 404 : isTired ? 500 : 200
      response.end(
        JSON.stringify({
          ...review,
          status: { allowed: !images.includes('bad'), ...(images === 'bad' && { reason: 'it is bad' }) },
        }),
      )
    },
  ).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close().closeAllConnections())
  return { server, seen }
}

/** Returns a kubeconfig for the webhook. Certificates and keys are the paths of their files. */
const kubeconfig = (server: Server, authority: string, cert: string, key: string) => ({
  apiVersion: 'v1',
  kind: 'Config',
  clusters: [
    {
      name: 'w',
      cluster: {
        server: `https://127.0.0.1:${(server.address() as AddressInfo).port}/policy`,
        'certificate-authority': authority,
      },
    },
  ],
  users: [{ name: 'u', user: { 'client-certificate': cert, 'client-key': key } }],
  contexts: [{ name: 'c', context: { cluster: 'w', user: 'u' } }],
  'current-context': 'c',
})

/** Starts a webhook and a cluster whose admission calls it. */
async function imageWebhook(t: TestContext, more: object) {
  const now = new Date()
  const authority = await makeAuthority('webhook-ca', now)
  const serving = await issueCertificate(
    authority,
    { commonName: 'images', usage: 'server', hosts: ['127.0.0.1'] },
    now,
  )
  const client = await issueCertificate(authority, { commonName: 'api-server', usage: 'client' }, now)
  const { server, seen } = await startWebhook(t, serving, authority.cert)

  const folder = temporaryFolder(t)
  const write = (name: string, content: string): string => {
    writeFileSync(join(folder, name), content)
    return join(folder, name)
  }
  const config = kubeconfig(server, write('ca', authority.cert), write('cert', client.cert), write('key', client.key))
  const kubeConfigFile = write('kubeconfig', JSON.stringify(config))
  const configuration = { imagePolicy: { kubeConfigFile, retryBackoff: 5, ...more } }
  const plugins = [{ name: 'ImagePolicyWebhook', configuration }]
  const file = write(
    'admission',
    JSON.stringify({ apiVersion: 'apiserver.config.k8s.io/v1', kind: 'AdmissionConfiguration', plugins }),
  )
  const cluster = await admissionCluster(
    t,
    '--enable-admission-plugins=ImagePolicyWebhook',
    `--admission-control-config-file=${file}`,
  )
  await cluster.namespace('n')
  const run = (image: string) =>
    cluster.pod('n', { containers: [{ name: 'c', image }] }, { generateName: 'p-', name: undefined })
  return { ...cluster, run, seen, server }
}

test('the webhook decides on images, and its answers are cached', async (t) => {
  const { run, seen, refused } = await imageWebhook(t, {})
  await run('good')
  await run('good')
  const denied = 'pods "p-" is forbidden: image policy webhook backend denied one or more images: it is bad'
  const withName = async (image: string) =>
    refused(
      run(image).catch((error: Error) => Promise.reject(new Error(error.message.replace(/p-[a-z0-9]{5}/g, 'p-')))),
      403,
      denied,
    )
  await withName('bad')
  await withName('bad')
  await run('tired')
  assert.deepEqual(seen, ['good', 'bad', 'tired', 'tired'])
})

test('pods are rejected while the webhook fails', async (t) => {
  const { run } = await imageWebhook(t, {})
  await assert.rejects(run('broken'), /403 .*is forbidden: the server could not find the requested resource/)
})

test('with defaultAllow pods are admitted while the webhook fails, with an annotation for policies', async (t) => {
  const { run, server, ...cluster } = await imageWebhook(t, { defaultAllow: true })
  server.close().closeAllConnections()
  assert.equal((await run('any')).metadata.annotations, undefined)
  const pods = { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] }
  const expression = "!('alpha.image-policy.k8s.io/failed-open' in object.metadata.?annotations.orValue({}))"
  await enforce(cluster, 'asked', {
    matchConstraints: constraints({ resourceRules: [pods] }),
    validations: [{ expression, message: 'nobody was asked' }],
  })
  await assert.rejects(run('any'), /denied request: nobody was asked/)
})
