/** The network of pods under test: a bridge in the network namespace of the runtime. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const networkOf = (folder: string) => ({
  cniVersion: '1.0.0',
  name: 'pods',
  plugins: [
    {
      type: 'bridge',
      bridge: 'cni0',
      isGateway: true,
      ipMasq: true,
      hairpinMode: true,
      ipam: {
        type: 'host-local',
        ranges: [[{ subnet: '10.88.0.0/16' }]],
        routes: [{ dst: '0.0.0.0/0' }],
        dataDir: join(folder, 'networks'),
      },
    },
    { type: 'portmap', capabilities: { portMappings: true } },
  ],
})

/** The folder of CNI plug-ins of Debian's package `containernetworking-plugins`. */
export const pluginFolder = '/usr/lib/cni'

/** Writes the configuration of the network below the folder of a runtime, and returns the folder of configurations. */
export function writePodNetwork(folder: string): string {
  const configurations = join(folder, 'cni')
  mkdirSync(configurations)
  writeFileSync(join(configurations, '10-pods.conflist'), JSON.stringify(networkOf(folder)))
  return configurations
}

/** Plug-ins and their configuration. */
export interface PodNetworkFiles {
  readonly pluginFolder: string
  /** Writes the configuration below a folder, and returns the folder of configurations. */
  write(folder: string): string
}

/** The plug-ins bridge and portmap of Debian. */
export const debianNetwork: PodNetworkFiles = { pluginFolder, write: writePodNetwork }
