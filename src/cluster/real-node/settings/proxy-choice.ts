/** The modes of kube-proxy that a cluster with a real node can have. */
import { type ModeName, modeNames } from '../../../network/proxy/modes/mode-registry.ts'

/** The wanted mode; `none`: the cluster has another proxy, or none. */
export type ProxyChoice = ModeName | 'none'

export const proxyChoices: readonly ProxyChoice[] = [...modeNames, 'none']
