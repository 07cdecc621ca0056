/** Groups of goroutines for a terminal: the suspicious first, with what makes them so. */
import type { CrashReport, GoroutineReport, GroupReport } from '../../../panics/report.ts'
import type { TextOptions } from './reports.ts'
import { frameText, stackText } from './stack.ts'

/** Groups that are shown unless all are wanted. */
const mostGroups = 12
const mostIds = 8
/** Frames of its own that show where a group is. */
const mostOwn = 3

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
  // The failing one is shown already; of those that wait for each other each is told why.
  if (goroutineCount < 2 && goroutine && kind !== 'deadlock') return []
  if (groups.length === 0) return []
  const idle = all ? [] : groups.filter(({ suspicion }) => suspicion === 'idle')
  const others = groups.filter((group) => !idle.includes(group) && !(group.suspicion === 'failed' && group.count === 1))
  const shown = all ? others : others.slice(0, mostGroups)
  const lines = [
    '',
    `  ${colours.strong(`${source === 'goroutines' ? '' : 'All '}${goroutineCount} goroutine${goroutineCount === 1 ? '' : 's'}, ${groups.length} different stack${groups.length === 1 ? '' : 's'}`)}`,
  ]
  for (const group of shown) {
    const title = `  ${`${group.count}`.padStart(5)} × [${group.state || 'unknown'}${waitText(group)}]`
    const suspicion = [names[group.suspicion], group.why].filter(Boolean).join(': ')
    lines.push('', `${colours.strong(title)}${suspicion ? `  ${colours.warning(suspicion)}` : ''}`)
    lines.push(
      colours.faint(
        `          goroutine${group.ids.length === 1 ? '' : 's'} ` +
          `${group.ids.slice(0, mostIds).join(', ')}${group.ids.length > mostIds ? ', …' : ''}`,
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
    const count = others.slice(mostGroups).reduce((sum, group) => sum + group.count, 0)
    lines.push(
      '',
      colours.faint(`        ${count} more goroutines in ${others.length - shown.length} stacks: --all shows them`),
    )
  }
  const idleCount = idle.reduce((sum, { count }) => sum + count, 0)
  if (idleCount > 0)
    lines.push('', colours.faint(`  ${`${idleCount}`.padStart(5)} × idle in the runtime, as they should be`))
  return lines
}

function waitText({ leastMinutes, mostMinutes }: GroupReport): string {
  if (mostMinutes === 0) return ''
  return leastMinutes === mostMinutes
    ? `, ${minutesText(mostMinutes)}`
    : `, ${leastMinutes} to ${minutesText(mostMinutes)}`
}

const minutesText = (minutes: number): string => (minutes === 1 ? '1 minute' : `${minutes} minutes`)

/** The innermost frames of its own; the very innermost one where it has none. */
function whereText({ frames, unavailable }: GroupReport): string[] {
  const own = frames.filter(({ origin }) => origin === 'own').slice(0, mostOwn)
  const shown = own.length > 0 ? own : frames.slice(0, 1)
  if (shown.length === 0)
    return [unavailable ? 'it ran on another thread: its stack is not known' : 'its stack is not told']
  return shown.map((frame) => `${frameText(frame)}  ${frame.file}:${frame.line}`)
}
