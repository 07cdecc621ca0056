/** The heartbeats of a node: its Lease in `kube-node-lease`, which the node controller watches. */
import { type Lease, leases } from '../../client/kinds.ts'
import type { RestClient } from '../../client/rest/rest-client.ts'
import { microTimestamp } from '../../machinery/values/timestamp.ts'

export const leaseNamespace = 'kube-node-lease'
/** A Lease holds this long without a renewal, as a kubelet's (`nodeLeaseDurationSeconds`). */
const usualLeaseSeconds = 40
/** The interval of renewals, as a kubelet's: a quarter of the lease duration. In ms. */
export const leaseMs = 10_000
/** The interval of status updates without a change, as a kubelet's (`nodeStatusReportFrequency`). In ms. */
export const statusMs = 300_000

/** A Lease as last read or written. */
export interface KnownLease {
  readonly resourceVersion: string | undefined
}

/**
 * Renews the Lease of a node; creates it if it is missing. `known` saves the read. Rejects with 409 if another client
 * has written it since.
 */
export async function renewLease(
  client: RestClient,
  { name, uid }: { readonly name: string; readonly uid: string },
  known: KnownLease | undefined,
  now: number,
  leaseSeconds = usualLeaseSeconds,
): Promise<KnownLease> {
  const metadata = {
    name,
    namespace: leaseNamespace,
    ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name, uid }],
  }
  const spec = { holderIdentity: name, leaseDurationSeconds: leaseSeconds, renewTime: microTimestamp(now) }
  const lease: Lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec }
  const present = known ?? (await client.find(leases, leaseNamespace, name))?.metadata
  const written = present
    ? await client.update(leases, { ...lease, metadata: { ...metadata, resourceVersion: present.resourceVersion } })
    : await client.create(leases, lease)
  return { resourceVersion: written.metadata.resourceVersion }
}
