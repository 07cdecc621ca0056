/** The release of this package, and the version of Kubernetes. */
import packageJson from '../../package.json' with { type: 'json' }

/** `0.1.0` */
export const release: string = packageJson.version

/** The minor and patch release of Kubernetes that this package behaves like: `1.36.2`. */
export const kubernetesMinor = 36
const kubernetesPatch = 2

/**
 * The version that servers and nodes report, for a release of this package.
 * @example kubernetesVersion('0.1.0') // 'v1.36.2+t8s.0.1.0'
 */
export const kubernetesVersion = (ofRelease: string): string =>
  `v1.${kubernetesMinor}.${kubernetesPatch}+t8s.${ofRelease}`
