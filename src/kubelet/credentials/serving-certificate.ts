/** The certificate of the kubelet's HTTPS server: signed by the cluster (`serverTLSBootstrap`), or by the kubelet. */
import { isIP } from 'node:net'
import type { RestClient } from '../../client/rest/rest-client.ts'
import { CertificateStore } from './certificate-store.ts'
import { certificateOf, createKey, type KeyPair, selfSigned, signingRequest } from './key-pair.ts'
import { ManagedCertificate, type ManagedCertificateOptions } from './managed-certificate.ts'
import { requestCertificate } from './request-certificate.ts'
import { SelfSignedFiles } from './self-signed-files.ts'

type Environment = Pick<ManagedCertificateOptions, 'log' | 'now' | 'random' | 'schedule' | 'changed' | 'failed'>

export interface ServingCertificateOptions extends Environment {
  readonly pkiFolder: string
  readonly nodeName: string
  /** The node's host names and IP addresses; empty while it has none. */
  readonly hosts: () => readonly string[]
}

/** A certificate of the signer `kubernetes.io/kubelet-serving`; it is requested again when the addresses change. */
export function clusterServingCertificate({
  pkiFolder,
  nodeName,
  hosts,
  client,
  ...environment
}: ServingCertificateOptions & { readonly client: RestClient }): ManagedCertificate {
  return new ManagedCertificate({
    ...environment,
    store: new CertificateStore(pkiFolder, 'kubelet-server'),
    isCurrent: (pair) => hosts().length === 0 || covers(pair, hosts()),
    async renew(signal) {
      const names = hosts()
      if (names.length === 0) return undefined
      const key = await createKey()
      const subject = { commonName: `system:node:${nodeName}`, organizations: ['system:nodes'], hosts: names }
      const request = signingRequest(key, subject)
      const order = { request, signerName: 'kubernetes.io/kubelet-serving' } as const
      return { key, cert: await requestCertificate(client, order, signal) }
    },
  })
}

/** The certificate in `kubelet.crt`, which clients cannot verify: the default, as upstream. */
export function selfSignedServingCertificate({
  pkiFolder,
  nodeName,
  hosts,
  ...environment
}: ServingCertificateOptions): ManagedCertificate {
  return new ManagedCertificate({
    ...environment,
    store: new SelfSignedFiles(pkiFolder),
    renew: () => selfSigned(nodeName, hosts(), new Date(environment.now())),
  })
}

function covers(pair: KeyPair, hosts: readonly string[]): boolean {
  const certificate = certificateOf(pair)
  return hosts.every((host) => (isIP(host) ? certificate.checkIP(host) : certificate.checkHost(host)) !== undefined)
}
