/** The images of this node: pulls for pods, and their collection. */
import { secrets } from '../../client/kinds.ts'
import { parseDurationMs } from '../../lib/duration.ts'
import { type CollectorPolicy, defaultCollectorPolicy } from '../images/collection/image-collector.ts'
import { checkProviderPrograms, readProviderConfig } from '../images/credentials/provider-config.ts'
import { ImageService } from '../images/image-service.ts'
import { isPolicyName, verificationPolicy } from '../images/records/verification-policy.ts'
import { ReferencedObjects } from '../objects/referenced-objects.ts'
import type { KubeletOptions } from '../options.ts'
import { component, nodeReference } from './parts.ts'

export const images = component({
  name: 'images',
  needs: ['options', 'runtime', 'criImages', 'client', 'metrics', 'recorder', 'events', 'node', 'schedule'],
  gives: ['images'],
  async start({ options, runtime, criImages, client, metrics, recorder, events, node, schedule }, lifetime) {
    const { configuration, root, log } = options
    const objects = new ReferencedObjects(client, Date.now)
    const reference = nodeReference(node)
    const images = await ImageService.start({
      images: criImages,
      runtime,
      events,
      root,
      limits: {
        isSerial: configuration.serializeImagePulls,
        maxParallel: configuration.maxParallelImagePulls,
        perSecond: configuration.registryPullQPS,
        burst: configuration.registryBurst,
      },
      verification: verificationOf(configuration),
      collection: collectionPolicy(configuration),
      maxNodeImages: configuration.nodeStatusMaxImages,
      ...providersOf(options),
      environment: process.env,
      workingFolder: process.cwd(),
      log,
      now: Date.now,
      schedule,
      secret: (namespace, name) => objects.find(secrets, namespace, name),
      record: (reason, message) => recorder.record(reference, 'Warning', reason, message, node.name),
      countRemoved: (reason) => metrics.imagesRemoved([reason]).add(),
    })
    lifetime.onEnd(() => images.stop())
    return { images }
  },
})

/** Throws an Error if a program is missing or the configuration of providers is not valid. */
function providersOf({ credentialProviders }: KubeletOptions) {
  if (!credentialProviders) return { providers: [], providerFolder: '' }
  const { config, folder } = credentialProviders
  const providers = readProviderConfig(config)
  checkProviderPrograms(folder, providers)
  return { providers, providerFolder: folder }
}

function verificationOf({
  imagePullCredentialsVerificationPolicy: policy,
  preloadedImagesVerificationAllowlist: allowlist,
}: KubeletOptions['configuration']) {
  if (!isPolicyName(policy)) throw new Error(`unknown image pull credential verification policy: ${policy}`)
  return verificationPolicy(policy, allowlist)
}

const collectionPolicy = (configuration: KubeletOptions['configuration']): CollectorPolicy => ({
  ...defaultCollectorPolicy,
  highPercent: configuration.imageGCHighThresholdPercent,
  lowPercent: configuration.imageGCLowThresholdPercent,
  minAgeMs: parseDurationMs(configuration.imageMinimumGCAge) ?? defaultCollectorPolicy.minAgeMs,
  maxAgeMs: parseDurationMs(configuration.imageMaximumGCAge) ?? defaultCollectorPolicy.maxAgeMs,
})
