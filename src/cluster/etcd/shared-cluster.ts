/**
 * Checks that this process may join the cluster in an etcd: its servers need one authority, one key of tokens and one
 * range of Services. Called before certificates are created and before anything is written.
 */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ExplainedError } from '../../lib/explained-error.ts'
import type { KeyRange, Store } from '../../storage/store.ts'
import type { DataDirectory } from '../data-directory.ts'

/** Published by each API server (`apiserver/aggregator/authentication-config-map.ts`). */
const authoritiesKey = '/registry/configmaps/kube-system/extension-apiserver-authentication'
const rangeKey = '/registry/servicecidrs/kubernetes'

export interface JoiningCluster {
  readonly store: Store
  /** Undefined for certificates in memory. */
  readonly data: DataDirectory | undefined
  /** The authority of users of this process, as PEM, if its certificates are in memory. */
  readonly authority: string | undefined
  /** The ranges of Services, separated by a comma; undefined if the user has chosen them. */
  readonly serviceRanges: string | undefined
}

/** Rejects with an ExplainedError that has the remedy. A new or encrypted cluster passes. */
export async function checkSharedCluster({ store, data, authority, serviceRanges }: JoiningCluster): Promise<void> {
  const published = certificatesIn(await storedValue(store, authoritiesKey))
  if (published.length > 0) {
    const file = data && join(data.pki, 'ca.crt')
    const own = file && existsSync(file) ? readFileSync(file, 'utf8') : authority
    const isOurs = own !== undefined && certificatesIn(Buffer.from(own)).some((one) => published.includes(one))
    if (!isOurs || (data && isIncomplete(data))) throw otherAuthority(data)
  }
  const stored = rangesIn(await storedValue(store, rangeKey))
  if (serviceRanges === undefined || stored.length === 0) return
  if (serviceRanges.split(',').some((range) => !stored.includes(range.trim())))
    throw new ExplainedError(
      `the cluster in etcd has other addresses for Services than ${serviceRanges}: start with ` +
        `--service-cluster-ip-range=${stored.join()}`,
    )
}

/** True for a copy without the key of tokens. A directory that has been used creates the key when it needs one. */
const isIncomplete = ({ pki }: DataDirectory): boolean =>
  !existsSync(join(pki, 'sa.key')) && !existsSync(join(pki, 'apiserver.crt'))

const otherAuthority = (data: DataDirectory | undefined): ExplainedError =>
  new ExplainedError(
    `the certificates of the cluster in etcd are not in ${data ? data.pki : 'the memory of this process'}: ` +
      `${data ? '' : 'choose a data directory, and '}copy ca.crt, ca.key, front-proxy-ca.crt, front-proxy-ca.key, ` +
      `sa.key and sa.pub ${data ? 'to it ' : 'to pki/ '}from the pki/ of its other servers (kubeadm: ` +
      '/etc/kubernetes/pki). If the cluster shall have new ones, delete the ConfigMap ' +
      `extension-apiserver-authentication: etcdctl del ${authoritiesKey}`,
  )

async function storedValue(store: Store, key: string): Promise<Buffer | undefined> {
  const range: KeyRange = { start: key, end: `${key}\0` }
  const { entries } = await store.list(range)
  return entries[0]?.value
}

/**
 * The bodies of certificates in a stored form of a ConfigMap, which may be JSON, YAML or protobuf: in all of them, PEM
 * is text whose ends of lines differ.
 */
export const certificatesIn = (value: Buffer | undefined): string[] =>
  [...text(value).matchAll(/-----BEGIN CERTIFICATE-----(.*?)-----END CERTIFICATE-----/gs)].map(([, body = '']) =>
    body.replaceAll(/\\n|\s/g, ''),
  )

/** The ranges of addresses in a stored form of a ServiceCIDR. */
export const rangesIn = (value: Buffer | undefined): string[] => [
  ...new Set(
    [...text(value).matchAll(/[\da-f]*(?:\.\d+){3}\/\d+|[\da-f]*:[\da-f:]*:[\da-f]*\/\d+/g)].map(([range]) => range),
  ),
]

const text = (value: Buffer | undefined): string => value?.toString('latin1') ?? ''
