/** Behaviours of the conformance suite for proxy subresources (`test/e2e/network/proxy.go`), with servers in pods. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { test } from 'node:test'
import type { Container } from '../../../../src/kubelet/pod-types.ts'
import { waitFor } from '../../../support/wait-for.ts'
import { probeImage, serverContainer } from '../support/probe-image.ts'
import { inServedNamespace, type ServedCluster, type ServedRequests } from '../support/served-cluster.ts'
import { createService } from '../support/services.ts'

export function apiProxySuite(served: Promise<ServedCluster>): void {
  test('Proxy version v1 A set of valid responses are returned for both pod and service ProxyWithPath', async () => {
    const space = await withServer(served, 'proxy-with-path')
    for (const target of targets) {
      for (const method of ['DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT'])
        await answers(space, method, `${target}/proxy/some/path/with/${method}`)
    }
  })

  test('Proxy version v1 A set of valid responses are returned for both pod and service Proxy', async () => {
    const space = await withServer(served, 'proxy-without-path')
    for (const target of targets) {
      for (const method of ['DELETE', 'OPTIONS', 'PATCH', 'POST', 'PUT'])
        await answers(space, method, `${target}/proxy?method=${method}`)
      for (const method of ['GET', 'HEAD']) {
        const path = `${space.api.core}/${target}/proxy`
        const { status, location } = await send(space, method, `${path}?method=${method}`)
        assert.deepEqual([status, location], [301, `${path}/?method=${method}`])
      }
    }
  })

  test('Proxy version v1 should proxy through a service and a pod', () => proxies(served))
}

const targets = ['pods/agnhost', 'services/test-service'] as const

interface Answer {
  readonly status: number | undefined
  readonly location: string | undefined
  readonly text: string
}

async function send({ served }: ServedRequests, method: string, path: string): Promise<Answer> {
  const { ca, cert, key, url } = served.cluster.client
  const sent = request(new URL(path, url), { ca, cert, key, agent: false, method })
  const [response]: IncomingMessage[] = await once(sent.end(), 'response')
  const { statusCode: status, headers } = response!
  return { status, location: headers.location, text: Buffer.concat(await response!.toArray()).toString() }
}

async function withServer(served: Promise<ServedCluster>, namespace: string): Promise<ServedRequests> {
  const space = await inServedNamespace(served, namespace)
  const labels = { test: 'response' }
  await space.pod('agnhost', { containers: [serverContainer(['json:80:foo'])] }, labels)
  await createService(space, 'test-service', { selector: labels, ports: [{ port: 80, targetPort: 80 }] })
  return space
}

async function answers(space: ServedRequests, method: string, path: string): Promise<void> {
  const { text } = await waitFor(`${method} ${path}`, async () => {
    const answer = await send(space, method, `${space.api.core}/${path}`)
    return answer.status === 200 && answer
  })
  if (method !== 'HEAD') assert.deepEqual(JSON.parse(text), { Method: method, Body: 'foo' })
}

/** Servers with TLS: each answers `/index.html` with its text. */
const secureServers = (texts: Readonly<Record<number, string>>): Container => ({
  name: 'tls',
  image: probeImage,
  command: [
    'sh',
    '-ec',
    `openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /CN=pod -config /dev/null \\
      -keyout /key.pem -out /cert.pem
    while [ $# -gt 0 ]; do
      mkdir -p /www/$1; cd /www/$1; printf '%s' "$2" >index.html
      openssl s_server -accept $1 -cert /cert.pem -key /key.pem -WWW & shift 2
    done
    wait`,
    'sh',
    ...Object.entries(texts).flat(),
  ],
})

async function proxies(served: Promise<ServedCluster>): Promise<void> {
  const space = await inServedNamespace(served, 'proxy-ports')
  const labels = { 'proxy-service-target': 'true' }
  await createService(space, 'proxy-service', {
    selector: labels,
    ports: [
      { name: 'portname1', port: 80, targetPort: 'dest1' },
      { name: 'portname2', port: 81, targetPort: 162 },
      { name: 'tlsportname1', port: 443, targetPort: 'tlsdest1' },
      { name: 'tlsportname2', port: 444, targetPort: 462 },
    ],
  })
  const link = (path: string): string => `<a href="${path}">test</a>`
  const texts = [`text:80:${link('/rewriteme')}`, `text:1080:${link('/rewriteme')}`, 'text:160:foo', 'text:162:bar']
  const ports = [
    { name: 'dest1', containerPort: 160 },
    { name: 'dest2', containerPort: 162 },
    { name: 'tlsdest1', containerPort: 460 },
    { name: 'tlsdest2', containerPort: 462 },
  ]
  const containers = [
    serverContainer(texts, { ports: [{ containerPort: 80 }, ...ports] }),
    secureServers({ 443: link('/tlsrewriteme'), 460: 'tls baz', 462: 'tls qux' }),
  ]
  await space.pod('porter', { containers }, labels)
  const pod = (name: string): string => `${space.api.core}/pods/${name}/proxy`
  const service = (name: string): string => `${space.api.core}/services/${name}/proxy`
  const expected: Readonly<Record<string, string>> = {
    [`${service('proxy-service:portname1')}/`]: 'foo',
    [`${service('http:proxy-service:portname1')}/`]: 'foo',
    [`${service('proxy-service:portname2')}/`]: 'bar',
    [`${service('http:proxy-service:portname2')}/`]: 'bar',
    [`${service('https:proxy-service:tlsportname1')}/index.html`]: 'tls baz',
    [`${service('https:proxy-service:tlsportname2')}/index.html`]: 'tls qux',
    [`${pod('porter')}/`]: link(`${pod('porter')}/rewriteme`),
    [`${pod('porter:1080')}/`]: link(`${pod('porter:1080')}/rewriteme`),
    [`${pod('http:porter:1080')}/`]: link(`${pod('http:porter:1080')}/rewriteme`),
    [`${pod('porter:160')}/`]: 'foo',
    [`${pod('http:porter:160')}/`]: 'foo',
    [`${pod('porter:162')}/`]: 'bar',
    [`${pod('http:porter:162')}/`]: 'bar',
    [`${pod('https:porter:443')}/index.html`]: link(`${pod('https:porter:443')}/tlsrewriteme`),
    [`${pod('https:porter:460')}/index.html`]: 'tls baz',
    [`${pod('https:porter:462')}/index.html`]: 'tls qux',
  }
  for (const [path, text] of Object.entries(expected)) {
    const answer = await waitFor(path, async () => {
      const one = await send(space, 'GET', path)
      return one.status === 200 && one
    })
    assert.equal(answer.text, text, path)
  }
}
