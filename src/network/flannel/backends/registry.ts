/** All backends by their type. Their code is loaded on use. */
import type { Backend } from './backend.ts'
import { thisMachine } from './clouds/cloud-machine.ts'

const loaders: Readonly<Record<string, () => Promise<Backend>>> = {
  'ali-vpc': async () => {
    const { aliVpcBackend } = await import('./clouds/ali-vpc/ali-vpc-backend.ts')
    return aliVpcBackend(thisMachine)
  },
  alloc: async () => (await import('./alloc/alloc-backend.ts')).allocBackend,
  'aws-vpc': async () => {
    const { awsVpcBackend } = await import('./clouds/aws-vpc/aws-vpc-backend.ts')
    return awsVpcBackend(thisMachine)
  },
  gce: async () => (await import('./clouds/gce/gce-backend.ts')).gceBackend(thisMachine),
  'host-gw': async () => (await import('./host-gw/host-gw-backend.ts')).hostGwBackend,
  ipip: async () => (await import('./ipip/ipip-backend.ts')).ipipBackend,
  ipsec: async () => (await import('./ipsec/ipsec-backend.ts')).ipsecBackend,
  udp: async () => (await import('./udp/udp-backend.ts')).udpBackend,
  vxlan: async () => (await import('./vxlan/vxlan-backend.ts')).vxlanBackend,
  wireguard: async () => (await import('./wireguard/wireguard-backend.ts')).wireguardBackend,
}

/** Rejects with the types that exist for an unknown one. */
export async function backendOf(type: string): Promise<Backend> {
  const load = Object.hasOwn(loaders, type) ? loaders[type] : undefined
  if (load) return load()
  throw new Error(`unknown backend type: ${type}. Use one of ${Object.keys(loaders).join(', ')} as Backend.Type`)
}
