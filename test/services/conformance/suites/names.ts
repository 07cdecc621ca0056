/** Behaviours of the conformance suite for DNS (`test/e2e/network/dns.go`): upstream's queries, by dig in pods. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from '../../../../src/client/kinds.ts'
import { clientContainer, serverContainer } from '../support/probe-image.ts'
import { execIn, inServedNamespace, type ServedCluster, type ServedRequests } from '../support/served-cluster.ts'
import { changeService, createService, readService } from '../support/services.ts'

const domain = 'svc.cluster.local'
const subdomain = 'dns-test-service'
const hostname = 'dns-querier-1'
const http = { name: 'http', port: 80, protocol: 'TCP' }

export function nameSuite(served: Promise<ServedCluster>): void {
  test('DNS should provide DNS for the cluster', async () => {
    const space = await inServedNamespace(served, 'dns-cluster')
    await resolves(space, await querier(space), [`kubernetes.default.${domain}`])
  })

  test('DNS should provide /etc/hosts entries for the cluster', async () => {
    const space = await inServedNamespace(served, 'dns-hosts')
    const pod = await querier(space)
    await isHost(space, pod, [`${hostname}.${subdomain}.dns-hosts.${domain}`, hostname])
  })

  test('DNS should provide DNS for services', async () => {
    const { space, pod, regular } = await withServices(served, 'dns-services')
    const names = [
      `${subdomain}.dns-services.${domain}`,
      `_http._tcp.${subdomain}.dns-services.${domain}`,
      `_http._tcp.test-service-2.dns-services.${domain}`,
    ]
    await resolves(space, pod, names, regular)
  })

  test('DNS should resolve DNS of partial qualified names for services', async () => {
    const { space, pod, regular } = await withServices(served, 'dns-partial')
    const full = `${subdomain}.dns-partial`
    const names = [
      subdomain,
      full,
      `${full}.svc`,
      `_http._tcp.${full}.svc`,
      '_http._tcp.test-service-2.dns-partial.svc',
    ]
    await resolves(space, pod, names, regular)
  })

  test('DNS should provide DNS for pods for Hostname', async () => {
    const { space, pod } = await withHostname(served, 'dns-hostname')
    await isHost(space, pod, [`dns-querier-2.dns-test-service-2.dns-hostname.${domain}`, 'dns-querier-2'])
  })

  test('DNS should provide DNS for pods for Subdomain', async () => {
    const { space, pod } = await withHostname(served, 'dns-subdomain')
    const service = `dns-test-service-2.dns-subdomain.${domain}`
    await resolves(space, pod, [`dns-querier-2.${service}`, service])
  })

  test('DNS should provide DNS for ExternalName services', () => externalNames(served))

  test('DNS should support configurable pod DNS nameservers', async () => {
    const space = await inServedNamespace(served, 'dns-config')
    const pod = await space.pod('test-dns-nameservers', {
      dnsPolicy: 'None',
      dnsConfig: { nameservers: ['1.1.1.1'], searches: ['resolv.conf.local'] },
      containers: [clientContainer],
    })
    const text = await execIn(space.served, pod, 'cat', '/etc/resolv.conf')
    assert.equal(text.trim(), 'search resolv.conf.local\nnameserver 1.1.1.1')
  })
}

/** A pod with a host name and a subdomain, in which tests ask. */
const querier = (space: ServedRequests, labels: Readonly<Record<string, string>> = {}, spec: object = {}) =>
  space.pod('querier', { hostname, subdomain, containers: [clientContainer], ...spec }, labels)

/** A headless and a usual Service with the pod as their endpoint; `regular` is the address of the latter. */
async function withServices(served: Promise<ServedCluster>, namespace: string) {
  const space = await inServedNamespace(served, namespace)
  const selector = { 'dns-test': 'true' }
  await createService(space, subdomain, { clusterIP: 'None', selector, ports: [http] })
  const regular = await createService(space, 'test-service-2', { selector, ports: [http] })
  const containers = [clientContainer, serverContainer(['http:80'])]
  return { space, pod: await querier(space, selector, { containers }), regular }
}

async function withHostname(served: Promise<ServedCluster>, namespace: string) {
  const space = await inServedNamespace(served, namespace)
  const selector = { 'dns-test-hostname-attribute': 'true' }
  await createService(space, 'dns-test-service-2', { clusterIP: 'None', selector, ports: [http] })
  const pod = await querier(space, selector, { hostname: 'dns-querier-2', subdomain: 'dns-test-service-2' })
  return { space, pod }
}

/** Runs commands in a pod until all have output, in one shell; rejects with the first one that has none after 30 s. */
async function untilAll({ served }: ServedRequests, pod: Pod, commands: readonly string[]): Promise<void> {
  const script = `for i in $(seq 150); do failed=; for c in "$@"; do
    [ -n "$(eval "$c" 2>&1 | grep -v '^;')" ] || { failed=$c; break; }; done
    [ -n "$failed" ] || exit 0; sleep 0.2; done; echo "no output of $failed" >&2; cat /etc/resolv.conf >&2; exit 1`
  await execIn(served, pod, 'sh', '-c', script, 'sh', ...commands)
}

/** Asks for A records, and SRV records of ports, by UDP and TCP; `reverse` is an address with a name. */
async function resolves(space: ServedRequests, pod: Pod, names: readonly string[], reverse?: string): Promise<void> {
  const questions = names.map((name) => `${name} ${name.startsWith('_') ? 'SRV' : 'A'}`)
  if (reverse !== undefined) questions.push(`${reverse.split('.').reverse().join('.')}.in-addr.arpa. PTR`)
  const options = '+noall +answer +search +tries=1 +time=2'
  const commands = questions.flatMap((one) => [`dig +notcp ${options} ${one}`, `dig +tcp ${options} ${one}`])
  await untilAll(space, pod, commands)
}

const isHost = (space: ServedRequests, pod: Pod, names: readonly string[]): Promise<void> =>
  untilAll(
    space,
    pod,
    names.map((name) => `getent hosts ${name}`),
  )

async function externalNames(served: Promise<ServedCluster>): Promise<void> {
  const space = await inServedNamespace(served, 'dns-external')
  const service = 'dns-test-service-3'
  await createService(space, service, { type: 'ExternalName', externalName: 'foo.example.com' })
  const pod = await querier(space)
  const answers = (type: string, expected: string): Promise<void> =>
    untilAll(space, pod, [`dig +short ${service}.dns-external.${domain} ${type} | grep -x ${expected}`])
  await answers('CNAME', 'foo.example.com.')
  await changeService(space, service, { externalName: 'bar.example.com' })
  await answers('CNAME', 'bar.example.com.')
  await changeService(space, service, { type: 'ClusterIP', ports: [http] })
  const { spec } = await readService(space, service)
  await answers('A', spec?.clusterIP ?? 'none')
}
