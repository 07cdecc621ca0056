/** The flags of `t8s join`: those of kubeadm join, and those of a real node. */
import { isIP } from 'node:net'
import { InvalidArgumentError, Option } from 'commander'
import type { JoinOptions } from '../../../cluster/joining/node/join-node.ts'
import { defaultNodeFolder } from '../../../cluster/joining/node/node-folder.ts'
import { repeated } from '../repeated.ts'
import { type RealNodeFlags, realNode, realNodeFlags } from './real-node-flags.ts'

export interface JoinFlags extends RealNodeFlags {
  readonly token?: string
  readonly discoveryTokenCaCertHash?: readonly string[]
  readonly discoveryTokenUnsafeSkipCaVerification?: boolean
  readonly discoveryFile?: string
  readonly dataDir: string
  readonly nodeIp?: readonly string[]
  readonly reset?: boolean
}

/** Flags of the real node of `t8s up` that concern the cluster. */
const clusterFlags = new Set(['--node-type', '--port', '--machines'])

export const joinFlags = (): readonly Option[] => [
  new Option('--token <TOKEN>', 'the bootstrap token: abcdef.0123456789abcdef'),
  new Option(
    '--discovery-token-ca-cert-hash <HASH>',
    "the hash of the public key of the cluster's authority: sha256:HEX; may be repeated",
  ).argParser(repeated),
  new Option(
    '--discovery-token-unsafe-skip-ca-verification',
    'trust a cluster that knows the token, whatever its authority is',
  ),
  new Option('--discovery-file <FILE>', "a kubeconfig with the cluster's address and authority, in place of a hash"),
  new Option('--data-dir <DIR>', 'the folder of the files of the node').default(defaultNodeFolder),
  new Option('--node-ip <IP>', 'the address of the node (default: the first one of this machine)').argParser(address),
  ...realNodeFlags().filter(({ long }) => !clusterFlags.has(long ?? '')),
]

function address(text: string, before: readonly string[] = []): readonly string[] {
  if (isIP(text) === 0) throw new InvalidArgumentError('It must be an IP address of this machine, such as 192.0.2.7.')
  return [...before, text]
}

/** Throws an ExplainedError for flags that do not fit. */
export function joinOptions(
  url: string | undefined,
  flags: JoinFlags,
): Pick<JoinOptions, 'credentials' | 'directory' | 'node'> {
  const { token, discoveryFile, nodeIp, dataDir } = flags
  const node = realNode({ ...flags, nodeType: 'real' }, {}) ?? {}
  return {
    credentials: {
      url,
      token,
      pins: flags.discoveryTokenCaCertHash ?? [],
      skipsAuthority: flags.discoveryTokenUnsafeSkipCaVerification ?? false,
      discoveryFile,
    },
    directory: dataDir,
    node: { ...node, ...(nodeIp && { ips: nodeIp }) },
  }
}
