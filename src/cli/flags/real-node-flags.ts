/** The flags for the real node of `t8s up`. */
import { Option } from 'commander'
import type { RealNode } from '../../cluster/real-node/index.ts'
import { ExplainedError } from '../../lib/explained-error.ts'
import { imageSourceFlag } from './image-source-flag.ts'

export interface RealNodeFlags {
  readonly nodeType: 'simulated' | 'real'
  readonly containerRuntimeEndpoint?: string
  /** True without an address. */
  readonly docker?: string | true
  readonly imageSource: readonly string[]
  readonly hostnameOverride?: string
  readonly kubeletConfig?: string
  readonly kubeletConfigDir?: string
}

export const realNodeFlags = (): readonly Option[] => [
  new Option(
    '--node-type <TYPE>',
    'real makes this machine a node that runs pods (Linux); --nodes adds simulated ones (docs/real-nodes.md)',
  )
    .choices(['simulated', 'real'])
    .default('simulated'),
  new Option(
    '--container-runtime-endpoint <URL>',
    'socket of a container runtime, such as containerd, for the real node (default: a runtime in this process)',
  ),
  new Option(
    '--docker [ADDRESS]',
    'let a Docker engine run the containers of the real node (default address: $DOCKER_HOST, else ' +
      'unix:///var/run/docker.sock)',
  ),
  imageSourceFlag(),
  new Option('--hostname-override <NAME>', 'name of the real node (default: the name of this machine)'),
  new Option('--kubelet-config <FILE>', 'a KubeletConfiguration (kubelet.config.k8s.io/v1beta1) for the real node'),
  new Option('--kubelet-config-dir <DIR>', 'a folder of files *.conf whose fields override those of --kubelet-config'),
]

/** Undefined without a real node. Throws an ExplainedError for its flags then. */
export function realNode(flags: RealNodeFlags): RealNode | undefined {
  const { containerRuntimeEndpoint, docker, hostnameOverride: name } = flags
  const imageSources = flags.imageSource.length > 0 ? flags.imageSource : undefined
  const { kubeletConfig: configurationFile, kubeletConfigDir: configurationFolder } = flags
  if (flags.nodeType === 'real') {
    if (imageSources && (containerRuntimeEndpoint !== undefined || docker !== undefined))
      throw new ExplainedError('--image-source is for the runtime of Typernetes: leave out the flag of another one')
    return { containerRuntimeEndpoint, docker, imageSources, name, configurationFile, configurationFolder }
  }
  const given = Object.entries({
    '--container-runtime-endpoint': containerRuntimeEndpoint,
    '--docker': docker,
    '--image-source': imageSources,
    '--hostname-override': name,
    '--kubelet-config': configurationFile,
    '--kubelet-config-dir': configurationFolder,
  }).filter(([, value]) => value !== undefined)
  if (given.length === 0) return undefined
  throw new ExplainedError(`${given[0]![0]} is a flag of real nodes: add --node-type=real`)
}
