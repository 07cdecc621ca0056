/** Builds the stages of a Dockerfile, one instruction after another. */
import { type Platform, parsePlatform, type StoredImage } from '../images/index.ts'
import type { BuildTools } from './build-tools.ts'
import type { CommandRunner } from './container/command-runner.ts'
import { atPlace, buildError } from './dockerfile/build-error.ts'
import { type Instruction, textOf } from './dockerfile/instruction.ts'
import { baseStage, sourceStage } from './dockerfile/needed-stages.ts'
import type { Stage } from './dockerfile/parse-dockerfile.ts'
import { emptyImage, type ImageState, imageState } from './image-document.ts'
import { type ArgValues, configSteps } from './steps/config-steps.ts'
import { type CopySource, copyFromContext, copyFromImage } from './steps/copy.ts'
import { run } from './steps/run.ts'
import { StageScope } from './steps/stage-scope.ts'
import type { StepResult } from './steps/step-result.ts'
import { workDir } from './steps/work-dir.ts'

export interface StageBuilderOptions {
  readonly tools: BuildTools
  readonly runner: CommandRunner
  /** All stages of the file. */
  readonly stages: readonly Stage[]
  readonly args: ArgValues
  readonly context: CopySource
  readonly platform: Platform
  findImage(name: string, platform: Platform): Promise<StoredImage>
  /** Called before the work of an instruction begins, or when its result has been found. */
  report(instruction: Instruction, isCached: boolean): void
}

export class StageBuilder {
  readonly #options: StageBuilderOptions
  readonly #images = new Map<Stage, ImageState>()

  constructor(options: StageBuilderOptions) {
    this.#options = options
  }

  /** The image of a stage that has been built. */
  imageOf(stage: Stage): ImageState {
    return this.#images.get(stage)!
  }

  /** The stages that it needs have been built. Rejects with an ImageError that names the line. */
  async build(stage: Stage): Promise<void> {
    const { tools, report } = this.#options
    report(stage.from, false)
    const scope = new StageScope(
      await this.#base(stage).catch((error) => Promise.reject(atPlace(stage.from.place, error))),
    )
    for (const instruction of stage.instructions) {
      tools.options.signal?.throwIfAborted()
      try {
        await this.#step(stage, scope, instruction)
      } catch (error) {
        throw atPlace(instruction.place, error)
      }
    }
    this.#images.set(stage, scope.image)
  }

  async #base(stage: Stage): Promise<ImageState> {
    const { stages, platform, tools } = this.#options
    const wanted = stage.platform === undefined ? platform : parsePlatform(stage.platform)
    if (stage.base === 'scratch') return emptyImage(wanted)
    const earlier = baseStage(stages, stage)
    if (earlier) return this.imageOf(earlier)
    const state = imageState(tools.options.store, await this.#options.findImage(stage.base, wanted))
    if (Array.isArray(state.config.OnBuild) && state.config.OnBuild.length > 0)
      throw buildError(
        stage.from.place,
        `${stage.base} has instructions ONBUILD, which are not supported: write them here`,
      )
    return state
  }

  async #step(stage: Stage, scope: StageScope, instruction: Instruction): Promise<void> {
    const { args, report } = this.#options
    const configure = configSteps.get(instruction.keyword)
    if (configure) {
      report(instruction, false)
      configure(scope, instruction, args)
      scope.record(textOf(instruction))
      return
    }
    let isReported = false
    const started = (isCached: boolean): void => {
      if (!isReported) report(instruction, isCached)
      isReported = true
    }
    const { result, isCached } = await this.#change(stage, scope, instruction, () => started(false))
    started(isCached)
    scope.record(textOf(instruction), result)
  }

  #change(stage: Stage, scope: StageScope, instruction: Instruction, started: () => void): Promise<StepResult> {
    const { tools, runner, args, context } = this.#options
    switch (instruction.keyword) {
      case 'WORKDIR':
        return workDir(tools, scope, instruction)
      case 'RUN':
        return run(tools, scope, instruction, { runner, buildArgs: args.buildArgs, started })
      default:
        return this.#copy(stage, scope, instruction, context)
    }
  }

  async #copy(stage: Stage, scope: StageScope, instruction: Instruction, context: CopySource): Promise<StepResult> {
    const { tools, stages, platform, findImage } = this.#options
    const from = instruction.flags.get('from')
    if (from === undefined) return copyFromContext(tools, scope, instruction, context)
    const earlier = sourceStage(stages, stage.index, instruction)
    const image = earlier ? this.imageOf(earlier) : imageState(tools.options.store, await findImage(from, platform))
    return copyFromImage(tools, scope, instruction, image)
  }
}
