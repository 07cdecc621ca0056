/** Formats groups of goroutines for a terminal: suspicious groups first, with the reason. */
import type { CrashReport, GoroutineReport, GroupReport } from '../../../tools/panics/report.ts'
import type { TextOptions } from './reports.ts'
import { frameText, stackText } from './stack.ts'

/** Groups that are shown without --all. */
const maxGroups = 12
const maxIds = 8
/** Frames of the program's own code that are shown for a group. */
const maxOwnFrames = 3

const names: Readonly<Record<GroupReport['suspicion'], string>> = {
  failed: 'it failed',
  deadlock: 'likely a deadlock',
  leak: 'likely a leak',
  'waits long': 'waits long',
  none: '',
  idle: '',
}

/** `7 [chan receive], for 5 minutes`. */
export function goroutineTitle({ id, state, minutes, lockedToThread, notes }: GoroutineReport): string {
  const parts = [
    `${id ?? 'of the log'}${state ? ` [${state}]` : ''}`,
    minutes > 0 ? `for ${minutesText(minutes)}` : '',
    lockedToThread ? 'locked to its thread' : '',
    ...(notes ?? []),
  ]
  return parts.filter(Boolean).join(', ')
}

export function groupsText(
  { kind, groups, goroutineCount, source, goroutine }: CrashReport,
  { colours, all }: TextOptions,
): string[] {
  // The failing goroutine is shown above; for a deadlock, each waiting goroutine is explained.
  if (goroutineCount < 2 && goroutine && kind !== 'deadlock') return []
  if (groups.length === 0) return []
  const idle = all ? [] : groups.filter(({ suspicion }) => suspicion === 'idle')
  const others = groups.filter((group) => !idle.includes(group) && !(group.suspicion === 'failed' && group.count === 1))
  const shown = all ? others : others.slice(0, maxGroups)
  const lines = [
    '',
    `  ${colours.strong(
      `${source === 'goroutines' ? '' : 'All '}${goroutineCount} goroutine${goroutineCount === 1 ? '' : 's'}, ` +
        `${groups.length} different stack${groups.length === 1 ? '' : 's'}`,
    )}`,
  ]
  for (const group of shown) {
    const title = `  ${`${group.count}`.padStart(5)} × [${group.state || 'unknown'}${waitText(group)}]`
    const suspicion = [names[group.suspicion], group.why].filter(Boolean).join(': ')
    lines.push('', `${colours.strong(title)}${suspicion ? `  ${colours.warning(suspicion)}` : ''}`)
    lines.push(
      colours.faint(
        `          goroutine${group.ids.length === 1 ? '' : 's'} ` +
          `${group.ids.slice(0, maxIds).join(', ')}${group.ids.length > maxIds ? ', …' : ''}`,
      ),
    )
    lines.push(
      ...(all
        ? stackText(group, { colours, all }).map((line) => `      ${line}`)
        : whereText(group).map((line) => `          ${line}`)),
    )
    if (group.createdBy)
      lines.push(
        colours.faint(
          `          created by ${group.createdBy.function} ${group.createdBy.file}:${group.createdBy.line}`,
        ),
      )
  }
  if (others.length > shown.length) {
    const count = others.slice(maxGroups).reduce((sum, group) => sum + group.count, 0)
    lines.push(
      '',
      colours.faint(`        ${count} more goroutines in ${others.length - shown.length} stacks: --all shows them`),
    )
  }
  const idleCount = idle.reduce((sum, { count }) => sum + count, 0)
  if (idleCount > 0)
    lines.push('', colours.faint(`  ${`${idleCount}`.padStart(5)} × idle in the runtime, which is normal`))
  return lines
}

function waitText({ leastMinutes, maxMinutes }: GroupReport): string {
  if (maxMinutes === 0) return ''
  return leastMinutes === maxMinutes
    ? `, ${minutesText(maxMinutes)}`
    : `, ${leastMinutes} to ${minutesText(maxMinutes)}`
}

const minutesText = (minutes: number): string => (minutes === 1 ? '1 minute' : `${minutes} minutes`)

/** The innermost frames of the program's own code, else the innermost frame. */
function whereText({ frames, unavailable }: GroupReport): string[] {
  const own = frames.filter(({ origin }) => origin === 'own').slice(0, maxOwnFrames)
  const shown = own.length > 0 ? own : frames.slice(0, 1)
  if (shown.length === 0)
    return [unavailable ? 'it ran on another thread: its stack is unknown' : 'its stack is missing in the output']
  return shown.map((frame) => `${frameText(frame)}  ${frame.file}:${frame.line}`)
}
