/** Gets a certificate from the cluster by a CertificateSigningRequest. */
import { type CertificateSigningRequest, certificateSigningRequests } from '../../client/kinds.ts'
import { waitFor } from '../../client/objects/wait-for.ts'
import type { RestClient } from '../../client/rest/rest-client.ts'
import { StatusError } from '../../machinery/status-error.ts'

export interface CertificateOrder {
  /** The PKCS #10 request, PEM. */
  readonly request: string
  readonly signerName: ClientSigner | ServingSigner
  /** The object's name, so that a kubelet that has restarted finds its request again. Default: a generated one. */
  readonly name?: string
}

type ClientSigner = 'kubernetes.io/kube-apiserver-client-kubelet'
type ServingSigner = 'kubernetes.io/kubelet-serving'

/** How long the kubelet waits for approval and signature, in ms, as upstream. */
const timeoutMs = 15 * 60_000

/** Resolves with the certificate, PEM. Rejects if the request is denied, fails, or is not signed in time. */
export async function requestCertificate(
  client: RestClient,
  order: CertificateOrder,
  signal: AbortSignal,
): Promise<string> {
  const created = await createOrFind(client, order)
  const { name = '' } = created.metadata
  const signed = await waitFor(client, certificateSigningRequests, { name }, isDecided, { timeoutMs, signal })
  const { certificate, conditions = [] } = signed?.status ?? {}
  for (const { type, reason, message } of conditions) {
    if (type === 'Denied')
      throw new Error(`certificate signing request is denied, reason: ${reason}, message: ${message}`)
    if (type === 'Failed') throw new Error(`certificate signing request failed, reason: ${reason}, message: ${message}`)
  }
  return Buffer.from(certificate ?? '', 'base64').toString()
}

async function createOrFind(client: RestClient, order: CertificateOrder): Promise<CertificateSigningRequest> {
  const { request, signerName, name } = order
  try {
    return await client.create(certificateSigningRequests, {
      apiVersion: 'certificates.k8s.io/v1',
      kind: 'CertificateSigningRequest',
      metadata: name ? { name } : { generateName: 'csr-' },
      spec: {
        request: Buffer.from(request).toString('base64'),
        signerName,
        usages: ['digital signature', signerName === 'kubernetes.io/kubelet-serving' ? 'server auth' : 'client auth'],
      },
    })
  } catch (error) {
    if (!name || !(error instanceof StatusError) || error.code !== 409) throw error
    return client.get(certificateSigningRequests, '', name)
  }
}

/** True if the request is signed, denied or failed. */
function isDecided(csr: CertificateSigningRequest | undefined): boolean {
  const { certificate, conditions = [] } = csr?.status ?? {}
  return Boolean(certificate) || conditions.some(({ type }) => type === 'Denied' || type === 'Failed')
}
