/**
 * The backend of pods and Services in tests: a small HTTP server on an address of this machine, and the objects that
 * refer to it.
 */
import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import { createServer as createSecure } from 'node:https'
import type { AddressInfo } from 'node:net'
import { networkInterfaces } from 'node:os'
import { issueCertificate, makeAuthority } from '../../src/lib/x509/certificates.ts'
import type { Lifetime, TestCluster } from '../support/test-cluster.ts'

/** An address that pods may have: not a loopback address. */
export const podAddress = Object.values(networkInterfaces())
  .flatMap((addresses) => addresses ?? [])
  .find(({ internal, family }) => !internal && family === 'IPv4')?.address

export const needsAddress = { skip: !podAddress && 'this machine has no address that pods may have' } as const

/** Starts a server that stops after the test. Returns it and its port. */
export async function backend(
  t: Lifetime,
  listener: RequestListener,
  { secure = false } = {},
): Promise<{ readonly server: Server; readonly port: number }> {
  const server = secure ? createSecure(await certificate(), listener) : createServer(listener)
  server.listen(0, podAddress)
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return { server, port: (server.address() as AddressInfo).port }
}

async function certificate() {
  const now = new Date()
  return issueCertificate(await makeAuthority('nobody', now), { commonName: 'pod', usage: 'server' }, now)
}

/** Creates a pod with the address and the container port. */
export async function pod(
  cluster: TestCluster,
  name: string,
  containerPort?: number,
  podIP = podAddress,
): Promise<void> {
  const pods = '/api/v1/namespaces/default/pods'
  const ports = containerPort === undefined ? [] : [{ containerPort }]
  await cluster.call('POST', pods, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name },
    spec: { containers: [{ name: 'main', image: 'main', ports }] },
  })
  await cluster.call(
    'PATCH',
    `${pods}/${name}/status`,
    { status: { phase: 'Running', podIP, podIPs: [{ ip: podIP }] } },
    'application/merge-patch+json',
  )
}

/** Creates a Service with the port 80, named `http`, whose endpoint is the pod. */
export async function serviceOf(
  cluster: TestCluster,
  name: string,
  podName: string | undefined,
  port: number,
): Promise<void> {
  await cluster.call('POST', '/api/v1/namespaces/default/services', {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name },
    spec: { ports: [{ name: 'http', port: 80 }] },
  })
  await cluster.call('POST', '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices', {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name: `${name}-1`, labels: { 'kubernetes.io/service-name': name } },
    addressType: 'IPv4',
    endpoints: [
      { addresses: [podAddress], ...(podName && { targetRef: { kind: 'Pod', namespace: 'default', name: podName } }) },
    ],
    ports: [{ name: 'http', port }],
  })
}
