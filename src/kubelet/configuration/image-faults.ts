/** Faults in the fields of a KubeletConfiguration that are about images, in upstream's words. */
import { isPolicyName, policyNames, verificationPolicy } from '../images/records/verification-policy.ts'
import type { KubeletConfiguration } from './defaults.ts'

export function imageFaults(configuration: KubeletConfiguration): string[] {
  const { registryPullQPS, registryBurst, nodeStatusMaxImages } = configuration
  return [
    ...(registryPullQPS < 0
      ? [`registryPullQPS (--registry-qps) ${registryPullQPS} must not be a negative number`]
      : []),
    ...(registryBurst < 0 ? [`registryBurst (--registry-burst) ${registryBurst} must not be a negative number`] : []),
    ...(nodeStatusMaxImages < -1
      ? [`nodeStatusMaxImages (--node-status-max-images) ${nodeStatusMaxImages} must be -1 or greater`]
      : []),
    ...parallelFaults(configuration),
    ...policyFaults(configuration),
  ]
}

function parallelFaults({ maxParallelImagePulls: max, serializeImagePulls }: KubeletConfiguration): string[] {
  if (max === undefined) return []
  if (max < 1) return [`maxParallelImagePulls ${max} must be a positive number`]
  if (max === 1 || !serializeImagePulls) return []
  const condition = 'SerializeImagePulls (--serialize-image-pulls) set to false'
  return [`maxParallelImagePulls cannot be larger than 1 unless ${condition}`]
}

function policyFaults({
  imagePullCredentialsVerificationPolicy: policy,
  preloadedImagesVerificationAllowlist: allowlist,
}: KubeletConfiguration): string[] {
  if (!isPolicyName(policy))
    return [`imagePullCredentialsVerificationPolicy ${JSON.stringify(policy)} must be one of ${policyNames.join(', ')}`]
  if (policy !== 'NeverVerifyAllowlistedImages')
    return allowlist.length === 0
      ? []
      : [`preloadedImagesVerificationAllowlist must be empty with the imagePullCredentialsVerificationPolicy ${policy}`]
  try {
    verificationPolicy(policy, allowlist)
    return []
  } catch (error) {
    return [`preloadedImagesVerificationAllowlist: ${(error as Error).message}`]
  }
}
