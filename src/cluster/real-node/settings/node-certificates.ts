/** The certificates of a real node and of its services, which are valid for a year and are not stored. */
import { dnsUser } from '../../dns/cluster-dns.ts'
import { flannelUser } from '../../flannel/rights.ts'
import type { KeyPair } from '../../pki/key-pair.ts'
import { policyUser } from '../../policy/cluster-policy.ts'
import { portsUser } from '../../ports/rights.ts'

export interface NodeCertificates {
  /** The kubelet's, as a client and as a server. */
  readonly kubelet: KeyPair
  readonly serving: KeyPair
  readonly proxy: KeyPair
  readonly dns: KeyPair
  readonly policy: KeyPair
  readonly ports: KeyPair
  readonly flannel: KeyPair
}

/** `ips` are the addresses of the node. */
export async function nodeCertificates(
  authority: KeyPair,
  { name, ips }: { readonly name: string; readonly ips: readonly string[] },
): Promise<NodeCertificates> {
  const { issueCertificate } = await import('../../../lib/x509/certificates.ts')
  const now = new Date()
  const identity = { commonName: `system:node:${name}`, organizations: ['system:nodes'] }
  const hosts = [...new Set([name, ...ips, 'localhost', '127.0.0.1'])]
  const client = (commonName: string): Promise<KeyPair> =>
    issueCertificate(authority, { commonName, usage: 'client' }, now)
  const [kubelet, serving, proxy, dns, policy, ports, flannel] = await Promise.all([
    issueCertificate(authority, { ...identity, usage: 'client' }, now),
    issueCertificate(authority, { ...identity, usage: 'server', hosts }, now),
    client('system:kube-proxy'),
    client(dnsUser),
    client(policyUser),
    client(portsUser),
    client(flannelUser),
  ])
  return { kubelet, serving, proxy, dns, policy, ports, flannel }
}
