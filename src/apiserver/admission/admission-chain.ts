/** Runs the admission plugins of a write in order, and measures both steps. */
import { after } from '../../lib/flow/after.ts'
import { settle } from '../../lib/flow/settle.ts'
import type { Admission, AdmissionAttributes, Operation } from '../registry/write/admission.ts'
import { removeDuplicateOwners } from '../request-options/duplicate-owners.ts'
import type { AdmissionPlugin, Step, StepMetrics, StepType } from './plugin.ts'

/** The enabled plugins, in order. */
export class AdmissionChain implements Admission {
  readonly #plugins: readonly AdmissionPlugin[]
  readonly #mutating: Readonly<Record<Operation, readonly Step[]>>
  readonly #validating: Readonly<Record<Operation, readonly Step[]>>

  /** Observes the time of a step, of all plug-ins together. */
  readonly #metrics: StepMetrics | undefined

  constructor(plugins: readonly AdmissionPlugin[], metrics?: StepMetrics) {
    this.#plugins = plugins
    this.#metrics = metrics
    this.#mutating = byOperation(plugins, ({ mutate }) => mutate)
    this.#validating = byOperation(plugins, ({ validate }) => validate)
  }

  async start(): Promise<void> {
    await Promise.all(this.#plugins.map((plugin) => plugin.start?.()))
  }

  stop(): void {
    for (const plugin of this.#plugins) plugin.stop?.()
  }

  /** True if a plug-in may call a service outside of this process for a write. */
  get callsExternalServices(): boolean {
    return this.#plugins.some((plugin) => plugin.callsExternalServices?.())
  }

  mutate(attributes: AdmissionAttributes): void | Promise<void> {
    const steps = this.#mutating[attributes.operation]
    return this.#timed('admit', attributes, () =>
      after(
        after(inOrder(steps, attributes), () => reinvoke(steps, attributes)),
        () => deduplicateOwners(attributes),
      ),
    )
  }

  validate(attributes: AdmissionAttributes): void | Promise<void> {
    return this.#timed('validating', attributes, () => inOrder(this.#validating[attributes.operation], attributes))
  }

  #timed(type: StepType, { operation }: AdmissionAttributes, step: () => void | Promise<void>): void | Promise<void> {
    const metrics = this.#metrics
    if (!metrics) return step()
    const started = performance.now()
    const observe = (rejected: boolean): void =>
      metrics(type, operation, rejected, (performance.now() - started) / 1000)
    return settle(
      step,
      () => observe(false),
      (error) => {
        observe(true)
        throw error
      },
    )
  }
}

function byOperation(
  plugins: readonly AdmissionPlugin[],
  stepOf: (plugin: AdmissionPlugin) => Step | undefined,
): Record<Operation, readonly Step[]> {
  const steps = (operation: Operation): Step[] =>
    plugins.flatMap((plugin) =>
      (plugin.handles?.includes(operation) ?? true) ? (stepOf(plugin)?.bind(plugin) ?? []) : [],
    )
  return { CREATE: steps('CREATE'), UPDATE: steps('UPDATE'), DELETE: steps('DELETE'), CONNECT: steps('CONNECT') }
}

/** Runs the mutating plug-ins a second time if one requested it. There is no third round. */
function reinvoke(steps: readonly Step[], attributes: AdmissionAttributes): void | Promise<void> {
  const { reinvocation } = attributes
  if (!reinvocation?.shouldReinvoke) return
  attributes.reinvocation = { ...reinvocation, round: 1, shouldReinvoke: false }
  return inOrder(steps, attributes)
}

/** A mutating plug-in may have added an owner that the object already had. */
function deduplicateOwners({ operation, object, warn }: AdmissionAttributes): void {
  if (operation === 'CONNECT' || !object?.metadata?.ownerReferences) return
  const warning = removeDuplicateOwners(object.metadata, 'after mutating admission happens')
  if (warning) warn(warning)
}

function inOrder(steps: readonly Step[], attributes: AdmissionAttributes, from = 0): void | Promise<void> {
  for (let i = from; i < steps.length; i++) {
    const pending = steps[i]!(attributes)
    if (pending) return pending.then(() => inOrder(steps, attributes, i + 1))
  }
}
