import type { AddLogEntryInput, LogEntry, LogKind } from '@gantry/contract/log';
import { logKinds, MAX_LOG_TEXT } from '@gantry/contract/values';
import { useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Button } from '../../ui/button.tsx';
import { Field } from '../../ui/field.tsx';
import { ChoiceField } from '../../ui/select.tsx';
import { FormDateField } from '../form/date-field.tsx';
import { useForm } from '../form/form.ts';
import { KeptState } from '../form/use-kept.tsx';
import { useNotices } from '../notices/notices.tsx';
import { Failure } from '../service/failure.tsx';
import { api } from '../service/service.ts';
import { readLogAgain } from './read-again.ts';
import { type FoundRef, RefList, useRefs } from './ref-list.tsx';

interface LogComposerProps {
  /** Whether the line gets the focus when it appears. */
  readonly isFocused?: boolean;
  readonly onAdded?: (entry: LogEntry) => void;
}

/** An attempt to send a text: repeated after a failure, it adds one entry, with the time of the first attempt. */
interface Attempt {
  readonly text: string;
  readonly at: string;
  readonly key: string;
}

function newAttempt(text: string): Attempt {
  // Not `randomUUID`, which browsers have only with TLS.
  return { text, at: new Date().toISOString(), key: crypto.getRandomValues(new Uint32Array(4)).join('-') };
}

/** The line with which an entry is added to the log. `#` looks for incidents, sensors and locations. */
export function LogComposer({ isFocused = false, onAdded }: LogComposerProps) {
  const { t } = useTranslation('log');
  const { say } = useNotices();
  const attempt = useRef<Attempt | null>(null);
  const [refs, setRefs] = useState<readonly FoundRef[]>([]);
  const [added, setAdded] = useState(0);
  const line = useRef<HTMLInputElement>(null);
  const found = useRefs(line, (ref) => setRefs((all) => [...all, ref]));
  const form = useForm({
    keep: 'log entry',
    read(entered): AddLogEntryInput {
      const text = entered.text('text');
      const kind = entered.text('kind') as LogKind;
      const former = attempt.current?.text === text ? attempt.current : null;
      attempt.current = former ?? newAttempt(text);
      return {
        ...{ text, kind, idempotencyKey: attempt.current.key },
        ...(former && { at: former.at }),
        source: {
          who: entered.textOrNull('source.who'),
          agency: null,
          phone: entered.textOrNull('source.phone'),
        },
        // What was deleted from the text is not meant any more.
        refs: refs
          .filter(({ name }) => text.includes(`#${name}`))
          .map(({ kind: of, id }) => ({ kind: of, id })),
        validUntil: kind === 'INSTRUCTION' ? entered.textOrNull('validUntil') : null,
      };
    },
    save: (input) => api.log.add.mutate(input),
    onSuccess(entry) {
      attempt.current = null;
      setRefs([]);
      setAdded((n) => n + 1);
      found.close();
      line.current?.form?.reset();
      line.current?.focus();
      readLogAgain();
      say(t('added'));
      onAdded?.(entry);
    },
  });
  const { errorOf } = form;
  return (
    <form ref={form.ref} onSubmit={form.submit} className="flex flex-col gap-2">
      <div className="flex flex-wrap items-end gap-2">
        <div className="relative min-w-60 grow basis-96">
          <Field
            ref={line}
            label={t('fields.text')}
            name="text"
            maxLength={MAX_LOG_TEXT}
            autoFocus={isFocused}
            autoComplete="off"
            placeholder={t('placeholder')}
            error={errorOf('text')}
            required
            {...found.inputProps}
          />
          <RefList {...found} />
        </div>
        {/* Begins anew with each entry: the reset of a form leaves alone what is a state of React. */}
        <Kind key={added} errorOf={errorOf} />
        <KeptState name="kept.refs" value={refs} onRestore={setRefs} />
        <Button kind="primary" type="submit" icon="add" disabled={form.isSaving}>
          {t('add')}
        </Button>
      </div>
      {form.failure && <Failure error={form.failure} />}
    </form>
  );
}

/** The kind of an entry, and the fields that only some kinds have. */
function Kind({ errorOf }: { readonly errorOf: (path: string) => string | undefined }) {
  const { t } = useTranslation('log');
  const [kind, setKind] = useState<LogKind>('NOTE');
  return (
    <div
      className="contents"
      onChange={({ target }) => {
        if (target instanceof HTMLSelectElement && target.name === 'kind') setKind(target.value as LogKind);
      }}
    >
      <ChoiceField
        label={t('fields.kind')}
        name="kind"
        defaultValue="NOTE"
        options={logKinds.map((value) => ({ value, label: t(`kinds.${value}`) }))}
      />
      {kind === 'INSTRUCTION' && (
        <FormDateField
          label={t('fields.validUntil')}
          name="validUntil"
          withTime
          error={errorOf('validUntil')}
          className="w-52"
        />
      )}
      {kind === 'CALL' && (
        <>
          <Field label={t('fields.who')} name="source.who" maxLength={100} className="w-40" />
          <Field label={t('fields.phone')} name="source.phone" dir="ltr" maxLength={50} className="w-36" />
        </>
      )}
    </div>
  );
}
