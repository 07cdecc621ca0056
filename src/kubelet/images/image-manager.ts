/** Makes the images of containers present by their pull policies, with upstream's reasons, messages and events. */
import type { Image } from '#protobuf/cri-images_pb.js'
import { aggregated } from '../../lib/go/aggregate.ts'
import { goDuration } from '../../lib/go/go-duration.ts'
import { goQuote } from '../../lib/go/go-quote.ts'
import { GrpcError } from '../../lib/grpc/grpc-error.ts'
import { messageOf } from '../../lib/message-of.ts'
import { withDefaultTag } from '../../node/images/image-name.ts'
import type { BackOff } from '../containers/back-off.ts'
import type { PodEvents } from '../containers/container-events.ts'
import { type PresentImage, StartError } from '../containers/start-container.ts'
import type { CriImages } from '../cri/images.ts'
import type { SandboxConfig } from '../cri/runtime.ts'
import type { Container, Pod } from '../pod-types.ts'
import type { ImageCredentials } from './credentials/image-credentials.ts'
import type { Credential } from './credentials/keyring.ts'
import { pullFailure } from './pull-failure.ts'
import type { PullQueue } from './pull-queue.ts'
import type { PullAccess } from './records/pull-access.ts'

export interface ImageManagerOptions {
  readonly images: Pick<CriImages, 'find' | 'pull'>
  readonly credentials: Pick<ImageCredentials, 'lookUp'>
  readonly access: Pick<PullAccess, 'begin' | 'succeed' | 'fail' | 'mustPull'>
  readonly queue: PullQueue
  readonly backOff: BackOff
  readonly events: PodEvents
  readonly now: () => number
}

/** A container whose image is wanted. */
interface Wanted {
  readonly pod: Pod
  readonly container: Container
  /** The image's name as the pod has it. */
  readonly image: string
  /** The name with a tag. */
  readonly tagged: string
  readonly sandbox: SandboxConfig
  /** Looks the credentials up once, when they are needed first. */
  readonly credentials: () => Promise<readonly Credential[]>
}

export class ImageManager {
  readonly #options: ImageManagerOptions
  /** Why the last pull failed, by the key of its back-off. */
  readonly #failures = new Map<string, string>()
  /** The pulls that run or wait, by pod UID. */
  readonly #pulls = new Map<string, Set<AbortController>>()

  constructor(options: ImageManagerOptions) {
    this.#options = options
  }

  /** Resolves with a present image. Rejects with a StartError, after events. */
  async ensure(pod: Pod, container: Container, sandbox: SandboxConfig): Promise<PresentImage> {
    try {
      return await this.#ensure(this.#wanted(pod, container, sandbox))
    } catch (error) {
      if (!(error instanceof StartError)) throw error
      this.#record(pod, container, 'Warning', 'Failed', `Error: ${error.reason}`)
      throw error
    }
  }

  /** Makes the image of a volume present, as `ensure`. Its events are those of the pod. */
  async ensureVolume(pod: Pod, image: string, imagePullPolicy: string | undefined, sandbox: SandboxConfig) {
    return this.#ensure(this.#wanted(pod, { name: '', image, ...(imagePullPolicy && { imagePullPolicy }) }, sandbox))
  }

  /** Cancels the pulls of a pod that ends. */
  cancel(podUid: string): void {
    for (const pull of this.#pulls.get(podUid) ?? []) pull.abort(new Error('context canceled'))
  }

  #wanted(pod: Pod, container: Container, sandbox: SandboxConfig): Wanted {
    const { image = '' } = container
    let tagged: string
    try {
      tagged = withDefaultTag(image)
    } catch (error) {
      const message = `Failed to apply default image tag ${goQuote(image)}: ${messageOf(error)}`
      this.#record(pod, container, 'Warning', 'InspectFailed', message)
      throw new StartError('InvalidImageName', message)
    }
    let found: Promise<readonly Credential[]> | undefined
    const credentials = () => (found ??= this.#options.credentials.lookUp(pod, tagged))
    return { pod, container, image, tagged, sandbox, credentials }
  }

  async #ensure(wanted: Wanted): Promise<PresentImage> {
    const { pod, container, image } = wanted
    const policy = container.imagePullPolicy ?? (wanted.tagged.endsWith(':latest') ? 'Always' : 'IfNotPresent')
    if (policy !== 'Always') {
      const present = await this.#find(wanted)
      if (present && !(await this.#mustPull(wanted, present.id))) {
        const message = `Container image ${goQuote(image)} already present on machine and can be accessed by the pod`
        this.#record(pod, container, 'Normal', 'Pulled', message)
        return presentOf(present)
      }
      // Pods without access do not learn that the image is present.
      if (policy === 'Never') {
        const message = `Container image ${goQuote(image)} is not present with pull policy of Never`
        this.#record(pod, container, 'Warning', 'ErrImageNeverPull', message)
        throw new StartError('ErrImageNeverPull', message)
      }
    }
    return this.#pullRecorded(wanted)
  }

  async #find({ pod, container, tagged }: Wanted): Promise<Image | undefined> {
    try {
      return await this.#options.images.find(tagged)
    } catch (error) {
      const message = `Failed to inspect image "": ${messageOf(error)}`
      this.#record(pod, container, 'Warning', 'InspectFailed', message)
      throw new StartError('ImageInspectError', message)
    }
  }

  async #mustPull({ image, credentials }: Wanted, id: string): Promise<boolean> {
    try {
      return await this.#options.access.mustPull(image, id, credentials)
    } catch (error) {
      throw new StartError('ErrImagePull', messageOf(error))
    }
  }

  /** Pulls with a record, so that later pods need access of their own. */
  async #pullRecorded(wanted: Wanted): Promise<PresentImage> {
    const { image } = wanted
    const { access } = this.#options
    this.#checkBackOff(wanted)
    const credentials = await wanted.credentials().catch((error) => {
      throw new StartError('ErrImagePull', messageOf(error))
    })
    try {
      access.begin(image)
    } catch (error) {
      const why = `Failed to record image pull intent for container image ${goQuote(image)}`
      throw new StartError('ErrImagePull', `${why}: ${messageOf(error)}`)
    }
    try {
      const { present, credential } = await this.#pull(wanted, credentials)
      access.succeed(image, present.id, credential)
      return presentOf(present)
    } catch (error) {
      access.fail(image)
      throw error
    }
  }

  #checkBackOff({ pod, container, image }: Wanted): void {
    const { backOff } = this.#options
    const key = keyOf(pod, image)
    if (backOff.remainingMs(key) === 0) return
    const message = `Back-off pulling image ${goQuote(image)}`
    this.#record(pod, container, 'Normal', 'BackOff', message)
    const failure = this.#failures.get(key)
    throw new StartError('ImagePullBackOff', failure ? `${message}: ${failure}` : message)
  }

  async #pull(wanted: Wanted, credentials: readonly Credential[]) {
    const { pod, container, image } = wanted
    const { now, backOff } = this.#options
    const key = keyOf(pod, image)
    this.#failures.delete(key)
    this.#record(pod, container, 'Normal', 'Pulling', `Pulling image ${goQuote(image)}`)
    const asked = now()
    try {
      const pulled = await this.#queued(wanted, credentials)
      const seconds = `${goDuration(pulled.ms)} (${goDuration(now() - asked)} including waiting)`
      const size = `Image size: ${pulled.present.size} bytes.`
      const message = `Successfully pulled image ${goQuote(image)} in ${seconds}. ${size}`
      this.#record(pod, container, 'Normal', 'Pulled', message)
      backOff.collect()
      return pulled
    } catch (error) {
      if (error instanceof Cancelled) throw new StartError('ErrImagePull', error.message)
      const text = messageOf(error)
      this.#record(pod, container, 'Warning', 'Failed', `Failed to pull image ${goQuote(image)}: ${text}`)
      backOff.next(key)
      const { reason, message } = pullFailure(image, text)
      this.#remember(key, `${reason}: ${message}`)
      throw new StartError(reason, message)
    }
  }

  async #queued(wanted: Wanted, credentials: readonly Credential[]) {
    const uid = wanted.pod.metadata.uid ?? ''
    const { queue, now, images } = this.#options
    const cancel = new AbortController()
    const pulls = this.#pulls.get(uid) ?? new Set()
    this.#pulls.set(uid, pulls.add(cancel))
    try {
      return await queue.run(async () => {
        const started = now()
        const { imageRef, credential } = await this.#pullWithAny(wanted, credentials, cancel.signal)
        const ms = now() - started
        const present = await images.find(imageRef)
        if (!present) throw new Error(`the image ${imageRef} is missing after its pull`)
        return { present, credential, ms }
      }, cancel.signal)
    } catch (error) {
      throw cancel.signal.aborted ? new Cancelled('context canceled') : error
    } finally {
      pulls.delete(cancel)
      if (pulls.size === 0) this.#pulls.delete(uid)
    }
  }

  /** Tries each credential, or none if there is none. Rejects with all errors. */
  async #pullWithAny({ tagged, sandbox }: Wanted, credentials: readonly Credential[], signal: AbortSignal) {
    const { images } = this.#options
    const failures: string[] = []
    for (const credential of credentials.length > 0 ? credentials : [undefined])
      try {
        const login = credential && { username: credential.username, password: credential.password }
        return { imageRef: await images.pull(tagged, login, sandbox, signal), credential }
      } catch (error) {
        failures.push(pullMessage(error))
        if (signal.aborted) break
      }
    throw new Error(aggregated(failures))
  }

  #record(pod: Pod, container: Container, type: 'Normal' | 'Warning', reason: string, message: string): void {
    const { events } = this.#options
    if (container.name === '') events.ofPod(pod, type, reason, message)
    else events.ofContainer(pod, container, type, reason, message)
  }

  #remember(key: string, failure: string): void {
    // Pods that were deleted leave their failures behind.
    if (this.#failures.size >= maxFailures) this.#failures.clear()
    this.#failures.set(key, failure)
  }
}

const maxFailures = 10_000

/** A pull was cancelled because its pod ends. */
class Cancelled extends Error {}

const keyOf = ({ metadata }: Pod, image: string): string => `${metadata.uid}_${image}`

const presentOf = ({ id, uid, username }: Image): PresentImage => ({ id, user: { uid: uid?.value, username } })

/** The code of an error says something only if the runtime knows it. */
const pullMessage = (error: unknown): string =>
  error instanceof GrpcError && error.code === 'Unknown'
    ? error.message.replace(/^rpc error: code = Unknown desc = /, '')
    : messageOf(error)
