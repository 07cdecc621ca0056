/** Finds the stages that an image needs: others are not built. */
import { ImageError } from '../../images/index.ts'
import type { Instruction } from './instruction.ts'
import type { Stage } from './parse-dockerfile.ts'

/** The stage of a name, or of a number in the order of the file; undefined if there is none among `stages`. */
export const findStage = (stages: readonly Stage[], reference: string): Stage | undefined =>
  stages.find(({ name, index }) => (name !== '' && name === reference.toLowerCase()) || String(index) === reference)

/** The stage that `FROM` names; an image of the same name counts only if no stage before has it. */
export const baseStage = (stages: readonly Stage[], { base, index }: Stage): Stage | undefined =>
  stages.slice(0, index).find(({ name }) => name !== '' && name === base.toLowerCase())

/** The earlier stage that `COPY --from` names. */
export const sourceStage = (stages: readonly Stage[], index: number, { flags }: Instruction): Stage | undefined => {
  const from = flags.get('from')
  return from === undefined ? undefined : findStage(stages.slice(0, index), from)
}

/** In the order of the file; the last one is the target. Throws an ImageError if there is no such target. */
export function neededStages(stages: readonly Stage[], target: string | undefined): Stage[] {
  const last = target === undefined ? stages.at(-1)! : findStage(stages, target)
  if (!last) {
    const names = stages.map(({ name, index }) => name || String(index)).join(', ')
    throw new ImageError('NotFound', `there is no stage ${JSON.stringify(target)}: the stages are ${names}`)
  }
  const needed = new Set<Stage>()
  const add = (stage: Stage): void => {
    if (needed.has(stage)) return
    needed.add(stage)
    const base = baseStage(stages, stage)
    if (base) add(base)
    for (const instruction of stage.instructions) {
      const source = sourceStage(stages, stage.index, instruction)
      if (source) add(source)
    }
  }
  add(last)
  return stages.filter((stage) => needed.has(stage))
}
