package peers;

/** Why a message was not taken: the innermost cause, as outer ones repeat the whole message. */
record Refusal(String type, String message) {
    static Refusal of(Throwable thrown) {
        Throwable cause = thrown;
        while (cause.getCause() != null) {
            cause = cause.getCause();
        }
        return new Refusal(cause.getClass().getName(), String.valueOf(cause.getMessage()));
    }
}
