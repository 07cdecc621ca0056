/** The list of objects by kind, and the history of the selected one, with the differences between versions. */
import { diffLines, foldSame } from '../model/diff.ts'
import type { History, Version } from '../model/histories.ts'
import { objectLines } from '../model/object-lines.ts'
import { element, hashOf, link } from './element.ts'
import { count, offsetText, type Trace } from './trace.ts'
import type { View } from './view.ts'
import { VirtualList } from './virtual-list.ts'

const rowHeight = 26
/** Later versions are closed at first. */
const maxOpen = 20
/** Of more versions, the older ones are shown on demand. */
const maxShown = 300

export function objectsView(trace: Trace): View {
  const all = [...trace.histories.values()]
  let words: readonly string[] = []
  let showsAll = all.every(({ isChanged }) => !isChanged)
  let current: string | undefined
  let shown: readonly History[] = []
  const detail = element('article', { class: 'detail', 'aria-live': 'polite' })
  const total = element('output', {})
  const list = new VirtualList({
    ...{ label: 'Objects', rowHeight },
    select: (index) => (location.hash = hashOf('objects', shown[index]!.key)),
  })
  const apply = (): void => {
    shown = all.filter((one) => (showsAll || one.isChanged) && words.every((word) => textOf(one).includes(word)))
    total.textContent = `${shown.length} of ${all.length}`
    list.show(
      shown.map((history, i) => () => rowOf(history, shown[i - 1]?.kind !== history.kind)),
      shown.findIndex(({ key }) => key === current),
    )
  }
  const text = element('input', { type: 'search', placeholder: 'Kind, namespace, name', 'aria-label': 'Words' })
  text.addEventListener('input', () => {
    words = text.value.toLowerCase().split(/\s+/).filter(Boolean)
    apply()
  })
  const box = element('input', { type: 'checkbox', checked: showsAll })
  box.addEventListener('change', () => {
    showsAll = box.checked
    apply()
  })
  apply()
  const filters = element(
    'form',
    { class: 'filters' },
    text,
    element('label', {}, box, 'with those that did not change'),
  )
  filters.addEventListener('submit', (event) => event.preventDefault())
  const open = ([key = '']: readonly string[]): void => {
    const history = trace.histories.get(key)
    if (!history) return
    current = key
    detail.replaceChildren(...detailOf(trace, history))
    if (!shown.includes(history)) {
      showsAll = box.checked = true
      words = []
      text.value = ''
      apply()
    }
    list.select(shown.indexOf(history))
  }
  const pane = element('div', { class: 'pane' }, filters, total, list.root)
  return { root: element('div', { class: 'split' }, pane, detail), open }
}

const textOf = ({ kind, namespace, name, resource }: History): string =>
  `${kind} ${resource} ${namespace}/${name}`.toLowerCase()

function rowOf({ kind, namespace, name, versions, isChanged }: History, isFirst: boolean): HTMLElement {
  const written = versions.filter(({ type }) => type !== 'base').length
  return element(
    'div',
    { class: `row object${isFirst ? ' first' : ''}` },
    element('span', { class: 'kind' }, kind),
    element('span', { class: 'path', title: name }, namespace ? `${namespace}/${name}` : name),
    element('span', { class: 'time' }, isChanged ? lastText(versions, written) : ''),
  )
}

const lastText = (versions: readonly Version[], written: number): string =>
  versions.at(-1)?.type === 'delete' ? 'deleted' : count(written, 'version')

function detailOf(trace: Trace, { kind, namespace, name, group, versions }: History): HTMLElement[] {
  const title = `${kind}${group && `.${group}`} ${namespace ? `${namespace}/` : ''}${name}`
  const list = element('div', {})
  const show = (from: number): void => {
    const rows = versions.slice(from).map((version, i) => {
      const at = from + i
      return versionOf(trace, version, versions[at - 1], i < maxOpen)
    })
    list.replaceChildren(...(from > 0 ? [olderButton(from, () => show(0))] : []), ...rows)
  }
  show(Math.max(0, versions.length - maxShown))
  return [element('h2', {}, title), list]
}

function olderButton(number: number, show: () => void): HTMLElement {
  const button = element('button', { type: 'button' }, `Show ${count(number, 'older version')}`)
  button.addEventListener('click', show)
  return button
}

const titles = { base: 'before the trace', put: '', delete: 'deleted' }

function versionOf(trace: Trace, version: Version, previous: Version | undefined, isOpen: boolean): HTMLElement {
  const { type, time, revision, managers, request } = version
  const heads = [
    offsetText(trace, time),
    titles[type] || (previous && previous.type !== 'delete' ? 'written' : 'created'),
  ]
  const summary = element('summary', {}, ...heads.map((text) => element('span', {}, text)), `revision ${revision}`)
  const writer = request
    ? element(
        'p',
        {},
        'by ',
        link(hashOf('requests', request.number), `${request.verb} of ${request.user || '(nobody)'}`),
      )
    : element('p', {}, type === 'base' ? '' : 'No request of this trace wrote it: a restore, an expiry, or the server.')
  const details = element('details', { open: isOpen && type !== 'base' }, summary, writer)
  if (managers.length > 0) writer.append(`; field managers: ${managers.join(', ')}`)
  if (request) writer.append(` (${request.userAgent.split(' ')[0]})`)
  let isFilled = false
  const fill = (): void => {
    if (!details.open || isFilled) return
    isFilled = true
    details.append(contentOf(version, previous))
  }
  details.addEventListener('toggle', fill)
  fill()
  return details
}

function contentOf({ type, object, omitted }: Version, previous: Version | undefined): HTMLElement {
  if (omitted) return element('p', { class: 'notice' }, omitted)
  if (type === 'delete') return element('p', {}, 'The object was deleted.')
  const lines = objectLines(object)
  const before = previous?.object
  if (!before) return element('pre', {}, lines.join('\n'))
  const parts = foldSame(diffLines(objectLines(before), lines)).map((part) =>
    'hidden' in part
      ? element('span', { class: 'hidden' }, `  … ${count(part.hidden, 'unchanged line')}\n`)
      : element('span', { class: part.kind }, `${signs[part.kind]}${part.text}\n`),
  )
  return element('pre', { class: 'diff' }, ...parts)
}

const signs = { same: '  ', added: '+ ', removed: '- ' }
