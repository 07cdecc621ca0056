/**
 * ImagePolicyWebhook: an external server decides which images may run. It is called with ImageReviews
 * (imagepolicy.k8s.io/v1alpha1).
 */
import { AnswerCache, connectionClient, type WebhookClient, withRetries } from '../../../outgoing/webhooks/index.ts'
import type { AdmissionAttributes } from '../../../registry/write/admission.ts'
import { forbiddenWrite } from '../../forbidden-write.ts'
import type { AdmissionPlugin, PluginSources } from '../../plugin.ts'
import { type PodWithSpec, writtenPod } from '../pod-write.ts'
import { imagePolicyConfiguration } from './image-policy-configuration.ts'
import { type ReviewStatus, reviewOf, statusIn } from './image-review.ts'

const auditPrefix = 'imagepolicywebhook.image-policy.k8s.io/'
/**
 * Marks pods that were admitted although the webhook failed. Only later plug-ins see it: as upstream, it is not stored.
 */
const failedOpen = 'alpha.image-policy.k8s.io/failed-open'
const maxCachedAnswers = 1024
const timeoutMs = 30_000
const maxBytes = 1024 * 1024

export function imagePolicyWebhook({ find, configuration, places, log }: PluginSources): AdmissionPlugin {
  const options = imagePolicyConfiguration(configuration('ImagePolicyWebhook'))
  const pods = find('v1/pods')
  const cache = new AnswerCache<ReviewStatus>(maxCachedAnswers)
  const stopping = new AbortController()
  let client: WebhookClient | undefined

  return {
    name: 'ImagePolicyWebhook',
    handles: ['CREATE', 'UPDATE'],
    callsExternalServices: () => true,
    validate(attributes) {
      const { subresource, namespace } = attributes
      if (subresource !== '' && subresource !== 'ephemeralcontainers') return
      const pod = writtenPod(pods, { ...attributes, subresource: '' })
      if (!pod) return
      const body = reviewOf(pod, namespace, subresource === '' ? 'containers' : 'ephemeralContainers')
      const cached = cache.get(body)
      return cached ? decide(attributes, cached) : review(attributes, pod, body)
    },
    async start() {
      const { readKubeconfig } = await import('../../../../kubeconfig/read-kubeconfig.ts')
      client = connectionClient(await readKubeconfig(options.kubeConfigFile), { sources: places, timeoutMs, maxBytes })
    },
    stop() {
      stopping.abort()
      client?.stop()
    },
  }

  async function postReview(body: string): Promise<ReviewStatus> {
    if (!client) throw new Error('the webhook cannot be called before the server has started')
    return statusIn(await client.post(Buffer.from(body)))
  }

  async function review(attributes: AdmissionAttributes, pod: PodWithSpec, body: string): Promise<void> {
    let status: ReviewStatus
    try {
      status = await withRetries(() => postReview(body), { signal: stopping.signal, backoffMs: options.backoffMs })
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error)
      log(`error contacting webhook backend: ${message}`)
      if (!options.defaultAllow) throw forbiddenWrite(attributes, message)
      attributes.annotate(`${auditPrefix}failed-open`, 'true')
      const { metadata } = pod
      attributes.object = {
        ...pod,
        metadata: { ...metadata, annotations: { ...metadata.annotations, [failedOpen]: 'true' } },
      }
      return
    }
    cache.set(body, status, status.allowed ? options.allowMs : options.denyMs)
    decide(attributes, status)
  }
}

function decide(attributes: AdmissionAttributes, { allowed, reason, auditAnnotations }: ReviewStatus): void {
  for (const [key, value] of Object.entries(auditAnnotations)) attributes.annotate(auditPrefix + key, value)
  if (allowed) return
  throw forbiddenWrite(
    attributes,
    reason
      ? `image policy webhook backend denied one or more images: ${reason}`
      : 'one or more images rejected by webhook backend',
  )
}
