import { useTranslation } from 'react-i18next';
import { Field } from '../../ui/field.tsx';

interface MessageFieldsProps {
  /** The message as it would be sent. */
  readonly message: { readonly subject: string; readonly text: string };
  readonly errorOf: (path: string) => string | undefined;
}

/** The fields `subject` and `text` of an e-mail about an incident. */
export function MessageFields({ message, errorOf }: MessageFieldsProps) {
  const { t } = useTranslation('incidents');
  return (
    <>
      <Field
        label={t('plan.subject')}
        name="subject"
        defaultValue={message.subject}
        maxLength={200}
        required
        error={errorOf('subject')}
      />
      <Field
        label={t('plan.text')}
        name="text"
        lines={8}
        defaultValue={message.text}
        maxLength={5000}
        required
        error={errorOf('text')}
      />
    </>
  );
}
