/** Webhooks receive exact 64-bit integers, and their changes to objects keep them exact. */
import assert from 'node:assert/strict'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { issueCertificate } from '../../../src/lib/x509/certificates.ts'
import { define, definitionOf, gadgetsPath } from '../../crd/definitions.ts'
import { http1Client, until } from '../../support/api-client.ts'
import { authority, startTestServer } from '../../support/api-server.ts'
import { gadgetTextOf, integers, integersIn, podOf, podsPath, secondsIn } from './integers.ts'

interface Webhook {
  readonly clientConfig: { readonly url: string; readonly caBundle: string }
  /** The bodies of the received requests. */
  readonly requests: readonly string[]
}

/** Starts a webhook that computes its response from the text of the request, without parsing JSON. */
async function webhook(t: TestContext, answer: (text: string, uid: string) => string): Promise<Webhook> {
  const requests: string[] = []
  const serving = await issueCertificate(
    authority,
    { commonName: 'webhook', usage: 'server', hosts: ['127.0.0.1'] },
    new Date(),
  )
  const server = createServer(serving, async (request, response) => {
    const text = Buffer.concat(await request.toArray()).toString()
    requests.push(text)
    response.writeHead(200, { 'content-type': 'application/json' }).end(answer(text, /"uid":"([^"]+)"/.exec(text)![1]!))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  const { port } = server.address() as AddressInfo
  return {
    clientConfig: { url: `https://127.0.0.1:${port}/`, caBundle: Buffer.from(authority.cert).toString('base64') },
    requests,
  }
}

const values = integers(21, 30)
const json = { 'content-type': 'application/json' }

const review = (uid: string, patch: string): string =>
  '{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview",' +
  `"response":{"uid":"${uid}","allowed":true` +
  `${patch && `,"patchType":"JSONPatch","patch":"${Buffer.from(patch).toString('base64')}"`}}}`

test('a mutating webhook reads and sets exact integers, and a validating one receives them', async (t) => {
  const client = http1Client(t, await startTestServer(t))
  const operations = values.map(
    (value, i) => `{"op":"add","path":"/spec/tolerations/${i}/tolerationSeconds","value":${value}}`,
  )
  const mutating = await webhook(t, (_, uid) => review(uid, `[${operations.join()}]`))
  const validating = await webhook(t, (_, uid) => review(uid, ''))
  for (const [kind, { clientConfig }] of [
    ['Mutating', mutating],
    ['Validating', validating],
  ] as const) {
    const body = {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: `${kind}WebhookConfiguration`,
      metadata: { name: 'one' },
      webhooks: [
        {
          name: 'one.example.com',
          clientConfig,
          rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] }],
          sideEffects: 'None',
          admissionReviewVersions: ['v1'],
        },
      ],
    }
    const path = `/apis/admissionregistration.k8s.io/v1/${kind.toLowerCase()}webhookconfigurations`
    assert.equal((await client.request('POST', path, { body })).status, 201)
  }
  const sent = values.map((value) => (value > 0n ? value - 1n : value + 1n))
  const { status, bytes } = await client.request('POST', podsPath, { body: podOf('p', sent), headers: json })
  assert.equal(status, 201, bytes.toString())
  assert.deepEqual(secondsIn(bytes.toString()), values)
  assert.deepEqual(integersIn(mutating.requests[0]!, 'tolerationSeconds').slice(0, values.length), sent)
  assert.deepEqual(integersIn(validating.requests[0]!, 'tolerationSeconds').slice(0, values.length), values)
})

test('objects that a webhook converts keep exact integers', async (t) => {
  const client = http1Client(t, await startTestServer(t))
  const converting = await webhook(t, (text, uid) => {
    const desired = /"desiredAPIVersion":"([^"]+)"/.exec(text)![1]!
    const objects = text
      .slice(text.indexOf('"objects":') + 10, -2)
      .replaceAll(/"apiVersion":"example\.com\/v\d"/g, `"apiVersion":"${desired}"`)
    return (
      '{"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview",' +
      `"response":{"uid":"${uid}","result":{"status":"Success"},"convertedObjects":${objects}}}`
    )
  })
  const list = {
    list: { type: 'array', items: { type: 'object', properties: { n: { type: 'integer', format: 'int64' } } } },
  }
  const definition = definitionOf({ versions: ['v1', 'v2'], spec: list }) as { spec: object }
  const conversion = {
    strategy: 'Webhook',
    webhook: { clientConfig: converting.clientConfig, conversionReviewVersions: ['v1'] },
  }
  await define(client, { ...definition, spec: { ...definition.spec, conversion } })
  const other = gadgetsPath.replace('/v1/', '/v2/')
  await until('the other version is served', async () => (await client.request('GET', other)).status === 200)
  const { status, bytes } = await client.request('POST', other, {
    body: gadgetTextOf('g', values).replace('/v1', '/v2'),
    headers: json,
  })
  assert.equal(status, 201, bytes.toString())
  assert.deepEqual(integersIn(bytes.toString(), 'n'), values)
  for (const path of [`${gadgetsPath}/g`, `${other}/g`, gadgetsPath, other]) {
    assert.deepEqual(integersIn((await client.request('GET', path)).bytes.toString(), 'n'), values, path)
  }
  assert.ok(converting.requests.some((text) => text.includes('9223372036854775807')))
})
