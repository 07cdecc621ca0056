/** Checks of this machine: Node, kubectl, ports, proxies, disk, and what a real node needs. Nothing is changed. */
import type { Obstacle } from '../../cluster/real-node/checks/obstacle-error.ts'
import { unsupportedNode } from '../../lib/process/supported-node.ts'
import { kubernetesMinor } from '../../lib/release.ts'
import { type Finding, good, hint, problem } from './finding.ts'

export function nodeFinding(version: string): Finding {
  const reason = unsupportedNode('t8s', version)
  return reason ? problem(`Node ${version} is too old`, reason) : good(`Node ${version}`)
}

/** `version` is the output of `kubectl version --client -o json`; undefined without kubectl. */
export function kubectlFinding(version: string | undefined): Finding {
  const wanted = `1.${kubernetesMinor}`
  const install = `install kubectl ${wanted} (https://kubernetes.io/docs/tasks/tools)`
  if (version === undefined) return hint('kubectl is not installed', install)
  // Distributions add a suffix to the minor version: `28+`.
  const [, text, minor] = /"gitVersion":\s*"v?((?:\d+)\.(\d+)[^"]*)"/.exec(version) ?? []
  if (text === undefined) return hint('kubectl does not report its version', install)
  const skew = Number(minor) - kubernetesMinor
  // https://kubernetes.io/releases/version-skew-policy: one minor version older or newer.
  if (Math.abs(skew) <= 1) return good(`kubectl ${text}`)
  const versions = `${Math.abs(skew)} minor versions ${skew < 0 ? 'older' : 'newer'}`
  return hint(
    `kubectl ${text} is ${versions} than the API, ${wanted}: Kubernetes supports one`,
    `${install}; most commands work meanwhile`,
  )
}

/** The user of a port: nobody, a cluster of Typernetes, or another program. */
export type PortUse = 'free' | 't8s' | 'other'

export function portFinding(port: number, use: PortUse): Finding {
  if (use === 'free') return good(`port ${port} is free`)
  if (use === 't8s') return good(`port ${port} is that of a running cluster of t8s`)
  return problem(
    `port ${port}, on which t8s up listens, is in use by another program`,
    'stop that program, or start with t8s up --secure-port 0, which takes a free port',
  )
}

/** Finds a proxy that clients would use for clusters on this machine. */
export function proxyFinding(environment: Readonly<Record<string, string | undefined>>): Finding {
  const value = (name: string): string => environment[name] || environment[name.toLowerCase()] || ''
  const proxy = ['HTTPS_PROXY', 'ALL_PROXY'].find((name) => value(name) !== '')
  if (proxy === undefined) return good('no proxy in the environment')
  const excluded = value('NO_PROXY').split(/[\s,]+/)
  const lacking = ['127.0.0.1', 'localhost'].filter((host) => !excluded.includes(host))
  const isExcluded = lacking.length === 0 || excluded.includes('*') || isLoopbackRange(excluded, lacking)
  if (isExcluded) return good(`${proxy} is set, and NO_PROXY excludes this machine`)
  return hint(
    `${proxy} is set, and NO_PROXY does not exclude ${lacking.join(' and ')}: curl and other clients would request ` +
      'clusters on this machine from the proxy',
    `export NO_PROXY=${[...excluded.filter(Boolean), ...lacking].join(',')}`,
  )
}

const isLoopbackRange = (excluded: readonly string[], lacking: readonly string[]): boolean =>
  excluded.includes('127.0.0.0/8') && !lacking.includes('localhost')

const mib = 1024 * 1024
/** A cluster without containers needs some 100 MiB for its data and logs. */
const leastBytes = 100 * mib
/** Images of containers need more. */
const comfortableBytes = 1024 * mib

/** `bytes` is the free space for users without root. */
export function diskFinding(folder: string, bytes: number): Finding {
  const size = bytes < 10 * 1024 * mib ? `${Math.floor(bytes / mib)} MiB` : `${Math.floor(bytes / mib / 1024)} GiB`
  const text = `${folder} has ${size} of free space`
  const next = 'delete files there, or choose another disk with --data-dir'
  if (bytes < leastBytes) return problem(text, next)
  return bytes < comfortableBytes ? hint(text, next) : good(text)
}

/** `obstacle` prevents a real node on this machine. */
export const realNodeFinding = (obstacle: Obstacle | undefined): Finding =>
  obstacle
    ? hint(
        `nodes are simulated here, because ${obstacle.reason}`,
        `${obstacle.remedy}${obstacle.flag ? `, or use ${obstacle.flag},` : ''} for a node that runs containers`,
      )
    : good('this machine can be a real node: pods run in containers')
